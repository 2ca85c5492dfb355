import { describe, expect, test } from 'vitest';
import prefixes from '../src/data/phone-prefixes.json' with { type: 'json' };
import { isOfUnitedStates } from '../src/sending/fate.ts';
import { MarketingCaps } from '../src/sending/marketing-caps.ts';
import areaCodes from '../src/sending/us-area-codes.json' with { type: 'json' };
import { hearing } from './support/heard.ts';
import { expectMessagingError } from './support/refusals.ts';
import { firstNumber, simulatorOfFile, templateMessage } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile({ afresh: true });
const heard = hearing(simulator);
const day = 24 * 3_600;

const offer = templateMessage('welcome_offer', validSends.welcome_offer.components, 'es');
const market = (to: string, number = firstNumber) => simulator.post(`${number}/messages`, { ...offer, to });

describe('to numbers of the United States', () => {
  test.each([
    ['12125550123', 'New York', true],
    ['14165550123', 'Toronto', false],
    ['18095550123', 'Santo Domingo', false],
    ['17875550123', 'San Juan', false],
    ['15555550123', 'no area code', false],
    ['1212555012', 'one digit less', false],
    ['521212555012', 'Mexico', false],
  ])('%s (%s): %s', (number, _, isTheirs) => {
    expect(isOfUnitedStates(number)).toBe(isTheirs);
  });

  test('no area code is one that another country has', () => {
    const codes = Object.values(areaCodes).flat();
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.filter((code) => !/^[2-9]\d\d$/.test(code) || Object.hasOwn(prefixes, `1${code}`))).toEqual([]);
  });

  test('MARKETING is accepted and fails later, 131049; other templates arrive, and MARKETING elsewhere', async () => {
    const { status, body } = await market('+12125550123');
    expect([status, body.messages[0].message_status]).toEqual([200, 'accepted']);
    await market('14165550123');
    await simulator.send('12125550123');
    await market('15550231049');
    await simulator.send('15550231049');
    await heard.wait(4);
    const failed = (await heard.statuses()).filter((one) => one.status === 'failed');
    expect(failed.map((one) => [one.recipient_id, one.errors[0].code])).toEqual([
      ['12125550123', 131049],
      ['15550231049', 131049],
    ]);
    expect(await heard.statuses()).toHaveLength(11);
  });

  test('however often: it is no limit of theirs', async () => {
    for (const _ of [1, 2, 3, 4, 5]) expect((await market('12125550123')).status).toBe(200);
  });
});

describe('to people who have had enough (131049)', () => {
  const enough = ['5491150000011', '5491150000012', '15550131049'];
  const hadEnough = async () => {
    for (const to of enough.slice(0, 2)) {
      await simulator.control('POST', 'receipts', { match: { to }, course: { fail: 131049 } });
    }
    for (const to of enough) expect((await market(to)).status).toBe(200);
  };

  test('a WABA tries them three times within 24 hours; the fourth attempt is refused at once, at them alone', async () => {
    await hadEnough();
    for (const to of enough) expect((await market(to)).status).toBe(200);
    for (const to of enough) expectMessagingError(await market(to), 400, 131049, undefined);
    expect((await market(enough[0] ?? '', '300000000000002')).body.error.code).toBe(131049);
    expect((await market('5491150000013')).status).toBe(200);
    expect((await simulator.send(enough[0] ?? '')).status).toBe(200);
    await heard.wait(day);
    expect((await market(enough[0] ?? '')).status).toBe(200);
  });

  test('a message inside an open window is no attempt', async () => {
    await hadEnough();
    const [to = ''] = enough;
    await simulator.control('POST', `recipients/${to}/message`, { phone_number_id: firstNumber, text: 'Hi' });
    for (const _ of [1, 2, 3, 4, 5]) expect((await market(to)).status).toBe(200);
  });

  test('nor is one to a country without the limit', async () => {
    const to = '34600000001';
    await simulator.control('POST', 'receipts', { match: { to }, course: { fail: 131049 } });
    for (const _ of [1, 2, 3, 4, 5]) expect((await market(to)).status).toBe(200);
  });

  test('the hours: a retry counts for 24, and so does what it retries', () => {
    const dayMs = day * 1_000;
    const caps = new MarketingCaps();
    caps.capped('1', 'a', 0);
    expect([caps.refuses('1', 'a', dayMs), caps.refuses('1', 'b', 1), caps.refuses('2', 'a', 1)]).toEqual([
      false,
      false,
      false,
    ]);
    caps.capped('1', 'a', dayMs);
    const tries = [1, 2, 3, 4].map((ms) => caps.refuses('1', 'a', dayMs + ms));
    expect(tries).toEqual([false, false, false, true]);
    caps.capped('1', 'a', dayMs + 5);
    expect([caps.refuses('1', 'a', 2 * dayMs), caps.refuses('1', 'a', 2 * dayMs + 1)]).toEqual([true, false]);
  });
});
