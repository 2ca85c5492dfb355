import { expect, test } from 'vitest';
import { holdKinds } from '../../../infra/simulator/holds.ts';
import { tierNames, tiers } from '../../../infra/simulator/portfolios/messaging-limits.ts';
import { peopleADay } from '../../../lib/channels/messaging-limit.ts';
import { scopeOfRefusal } from '../../../lib/messages/holds/scope.ts';

/* What the platform does to accounts stands twice as well, in the service and in the simulator. */

test.each(tierNames)('a portfolio of %s writes to as many people a day', (tier) => {
  expect(peopleADay(tier) ?? Number.POSITIVE_INFINITY).toBe(tiers[tier]);
});

const refusing = holdKinds.flatMap(({ code, of, category }) =>
  typeof code === 'number' ? [[code, of, category] as const] : [],
);

test.each(refusing)('%i holds a %s, of category %s (D46)', (code, of, category) => {
  for (const each of ['MARKETING', 'UTILITY', 'AUTHENTICATION']) {
    const scope = scopeOfRefusal(code, {
      ...{ category: each, phoneNumberId: '1', path: 'messages', templateName: 'a', templateLanguage: 'en' },
    });
    const narrow = of === 'waba' ? each.toLowerCase() : `${each.toLowerCase()}:1`;
    const wide = of === 'waba' ? of : 'number:1';
    const held = category === undefined ? wide : narrow;
    expect([each, scope]).toEqual([each, category === undefined || category === each ? held : undefined]);
  }
});
