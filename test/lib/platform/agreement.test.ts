import { expect, test } from 'vitest';
import { holdKinds } from '../../../infra/simulator/holds.ts';
import { tierNames, tiers } from '../../../infra/simulator/portfolios/messaging-limits.ts';
import { isOfUnitedStates } from '../../../infra/simulator/sending/fate.ts';
import { peopleADay } from '../../../lib/channels/messaging-limit.ts';
import { scopeOfRefusal } from '../../../lib/messages/holds/scope.ts';
import { countryOf } from '../../../lib/messages/request/addressee.ts';
import { undelivered } from '../../../lib/pricing/undelivered.ts';

/* What the platform does to accounts and countries stands twice as well, in the service and in the simulator. */

test.each(tierNames)('a portfolio of %s writes to as many people a day', (tier) => {
  expect(peopleADay(tier) ?? Number.POSITIVE_INFINITY).toBe(tiers[tier]);
});

const refusing = holdKinds.flatMap(({ code, of, category }) =>
  typeof code === 'number' ? [[code, of, category] as const] : [],
);

test.each(refusing)('%i holds a %s, of category %s (D46)', (code, of, category) => {
  for (const each of ['MARKETING', 'UTILITY', 'AUTHENTICATION']) {
    const scope = scopeOfRefusal(code, {
      ...{ category: each, phoneNumberId: '1', templateName: 'a', templateLanguage: 'en' },
    });
    const narrow = of === 'waba' ? each.toLowerCase() : `${each.toLowerCase()}:1`;
    const wide = of === 'waba' ? of : 'number:1';
    const held = category === undefined ? wide : narrow;
    expect([each, scope]).toEqual([each, category === undefined || category === each ? held : undefined]);
  }
});

test('MARKETING reaches no number of the United States, and its neighbours behind +1 (131049)', () => {
  const verdicts = Array.from({ length: 800 }, (_, at) => {
    const to = `1${200 + at}5550123`;
    const service = undelivered('MARKETING', [to], countryOf).length === 0;
    return { service, simulator: !isOfUnitedStates(to) };
  });
  const taken = (service: boolean, simulator: boolean) =>
    verdicts.filter((each) => each.service === service && each.simulator === simulator).length;
  // An area code of no country is for the service what it is for its prices: of the United States.
  expect([taken(false, false), taken(true, true), taken(false, true), taken(true, false)]).toEqual([369, 83, 348, 0]);
});
