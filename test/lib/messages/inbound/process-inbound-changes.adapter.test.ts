import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { InboundUpdate } from '../../../../lib/messages/inbound/inbound-message.ts';
import { processInbound } from '../../../../lib/messages/inbound/process-inbound.ts';
import { replacedIdReader } from '../../../../lib/messages/inbound/replaced-ids-store.ts';
import { optOutWriter } from '../../../../lib/opt-outs/opt-out-store.ts';
import { makeWaba } from '../../../support/directory.ts';
import {
  access,
  atMs,
  did,
  freshWorld,
  hear,
  hearing,
  listOf,
  nameOf,
  recordOf,
  said,
  stopOf,
  told,
  toldTo,
  userId,
  wabaId,
  waId,
  world,
  wrote,
} from './inbound-world.ts';

beforeEach(freshWorld);

describe('what is found in sending', () => {
  test('a refusal of the platform (131050) counts for the number, and is told to its client alone', async () => {
    world.waba = makeWaba();
    await hear([{ kind: 'refused', clientId: 1002, recipients: [waId], atMs }]);
    expect([await stopOf(1001), await stopOf(1002)]).toEqual(['refused', 'refused']);
    expect(told()).toMatchObject([{ clientId: 1002, data: { source: 'refused', scope: 'number', did } }]);
    expect([await listOf(1001), await listOf(1002)]).toEqual([[], [waId]]);
  });

  test('a number that the platform writes in another way is the same person', async () => {
    await hear([wrote('STOP')]);
    await hear([{ kind: 'respelled', recipients: [waId, '541155550001'], atMs }]);
    expect(await stopOf(1001, '541155550001')).toBe('reply');
    expect(toldTo()).toHaveLength(1);
  });
});

test('a user id that is replaced is noted (D24), and what was said under the old one counts under the new one', async () => {
  const changed: InboundUpdate = {
    ...{ kind: 'id_changed', ...said, atMs: atMs + 5_000, receivedAtMs: atMs + 5_000 },
    person: { userId: 'AR.2', parentUserId: 'AR.ENT.2' },
    old: { userId, parentUserId: 'AR.ENT.1' },
  };
  await hear([wrote('STOP', { person: { userId } })]);
  await hear([changed]);
  await hear([changed]);
  expect([await stopOf(1001, 'AR.2'), await stopOf(1001, 'AR.ENT.2')]).toEqual(['reply', 'reply']);
  const replaced = await replacedIdReader(access())(wabaId, [userId, 'AR.ENT.1']);
  const by = (id: string) => ({ by: id, atMs: atMs + 5_000 });
  expect(replaced).toEqual(
    new Map([
      [userId, by('AR.2')],
      ['AR.ENT.1', by('AR.ENT.2')],
    ]),
  );
});

describe('what fails comes again, and takes nothing along', () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    return () => void write.mockRestore();
  });

  test('a message that cannot be read, and a word that cannot be recorded', async () => {
    const poisoned = wrote('STOP', { person: { waId: '5491155550666' } });
    const optOuts = async () => {
      const real = optOutWriter(access(), nameOf);
      const change: typeof real.change = async (name, rule) => {
        if (name === nameOf('5491155550666')) throw new Error('poison');
        return await real.change(name, rule);
      };
      return { ...real, change };
    };
    const records = [
      { messageId: 'm-1', body: 'no JSON' },
      recordOf([poisoned, wrote('STOP')], undefined, 'm-2'),
      recordOf([wrote('STOP', { person: { waId: '5491155550003' } })], undefined, 'm-3'),
    ];
    expect((await processInbound(records, hearing({ optOuts }))).sort()).toEqual(['m-1', 'm-2']);
    expect([await stopOf(1001), await stopOf(1001, '5491155550003')]).toEqual(['reply', 'reply']);
    expect(toldTo()).toHaveLength(2);
    expect(lines.join('')).toMatch(/"inbound.not_taken".*"code":"reply"/);
    expect(lines.join('')).not.toMatch(/54911|STOP/);
    expect(await processInbound(records.slice(1), hearing())).toEqual([]);
    expect(toldTo()).toHaveLength(3);
  });

  test('words for which no time is left', async () => {
    expect(await hear([wrote('STOP')], { remainingMs: () => 19_000 })).toEqual(['m-1']);
    expect(world.events.sent).toEqual([]);
    expect(lines.join('')).toMatch(/"inbound.late".*"count":1/);
  });

  test('an event that is not queued: the same is told when the message comes again', async () => {
    world.events.broken = true;
    expect(await hear([wrote('STOP')])).toEqual(['m-1']);
    world.events.broken = false;
    expect(await hear([wrote('STOP')])).toEqual([]);
    expect(toldTo()).toEqual([[1001, 'recipient.opted_out']]);
  });
});
