import { describe, expect, test } from 'vitest';
import { demoSeed } from '../src/seed.ts';
import { creation, expectManagementError } from './support/definitions.ts';
import { demoApp, receiverOfFile } from './support/receiver-of-file.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });
const receiver = receiverOfFile(simulator);
const { wait, told } = receiver;

describe('holds of a WABA (platform reference, 10.4)', () => {
  const hold = (body: object) => simulator.control('POST', `wabas/${firstWaba}/holds`, body);
  const takeBack = () => simulator.control('DELETE', `wabas/${firstWaba}/holds`);
  const accountUpdates = async () => {
    const news = await told();
    expect(new Set(news.map(({ field, wabaId }) => `${field} ${wabaId}`))).toEqual(
      new Set(news.length === 0 ? [] : [`account_update ${firstWaba}`]),
    );
    return news.map(({ value }) => value);
  };
  const abuse = 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT';

  test.each<[number, object, object]>([
    [
      131031,
      {
        event: 'DISABLED_UPDATE',
        ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: 'November 20, 2026' },
      },
      {
        event: 'DISABLED_UPDATE',
        ban_info: { waba_ban_state: 'REINSTATE', waba_ban_date: 'November 20, 2026' },
      },
    ],
    [
      368,
      {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [
          { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING' },
          { restriction_type: 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING' },
        ],
      },
      { event: 'ACCOUNT_RESTRICTION' },
    ],
    [
      131064,
      {
        event: 'ACCOUNT_RESTRICTION',
        violation_info: { violation_type: abuse },
        restriction_info: [
          { restriction_type: 'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING', remediation: expect.any(String) },
        ],
      },
      { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: `${abuse}_RECOVERY` } },
    ],
  ])('%i: that it begins, and once that it is over', async (code, begun, over) => {
    await hold({ code });
    expect(await accountUpdates()).toEqual([begun]);
    await takeBack();
    await takeBack();
    expect(await accountUpdates()).toEqual([begun, over]);
  });

  test('its planned end comes with it, and its end when it is reached; a hold that is removed earlier ends once', async () => {
    await hold({ code: 368, expires_in_seconds: 86_400 });
    const [begun] = await accountUpdates();
    expect(begun.restriction_info.map((one: { expiration: number }) => one.expiration)).toEqual([
      1_795_262_400, 1_795_262_400,
    ]);
    await wait(86_399);
    expect(await accountUpdates()).toHaveLength(1);
    await wait(1);
    expect((await accountUpdates()).slice(1)).toEqual([{ event: 'ACCOUNT_RESTRICTION' }]);
    await hold({ code: 131064, expires_in_seconds: 60, expiration_as: 'text' });
    await takeBack();
    await wait(120);
    const [, , limited, ...rest] = await accountUpdates();
    expect([limited.restriction_info[0].expiration, rest.length]).toEqual(['1795262460', 1]);
  });

  test('misused UTILITY templates: none may be created, the approved ones are MARKETING, until that is over', async () => {
    const create = (name: string) =>
      simulator.post(`${firstWaba}/message_templates`, creation({ name, category: 'UTILITY' }));
    const utility = demoSeed()
      .wabas.filter(({ node }) => node.id === firstWaba)
      .flatMap(({ templates }) => templates)
      .filter(({ category, status }) => category === 'UTILITY' && status === 'APPROVED')
      .map(({ name }) => name);
    expect(utility).toContain('order_update');
    await hold({ code: 'no_utility_templates', expires_in_seconds: 60 });
    expect((await told()).map(({ field, value }) => [field, value])).toEqual([
      [
        'account_update',
        {
          event: 'ACCOUNT_RESTRICTION',
          violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE' },
          restriction_info: [
            {
              restriction_type: 'RESTRICTED_UTILITY_TEMPLATES',
              expiration: 1_795_176_060,
              remediation: expect.any(String),
            },
          ],
        },
      ],
      ...utility.map((message_template_name) => [
        'template_category_update',
        expect.objectContaining({ message_template_name, previous_category: 'UTILITY', new_category: 'MARKETING' }),
      ]),
    ]);
    expectManagementError(await create('one'), undefined, /utility templates/);
    expect((await simulator.send(recipient)).status).toBe(200);
    receiver.forget();
    await wait(60);
    expect((await told()).filter(({ field }) => field === 'account_update').map(({ value }) => value)).toEqual([
      { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE_UNBAN' } },
    ]);
    expect((await create('two')).status).toBe(200);
  });

  test.each<[object, object]>([
    [
      { violation_type: 'UTILITY_TEMPLATE_ABUSE' },
      { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE' } },
    ],
    [
      { violation_type: 'ADULT', phone_number_id: firstNumber },
      {
        event: 'ACCOUNT_VIOLATION',
        violation_info: { violation_type: 'ADULT' },
        phone_number: '5491100000001',
      },
    ],
  ])('a warning %j holds nothing', async (warning, value) => {
    await simulator.control('POST', `wabas/${firstWaba}/warnings`, warning);
    expect(await accountUpdates()).toEqual([value]);
    expect((await simulator.send(recipient)).status).toBe(200);
  });

  test('its end is sent by webhook in time, also without any request meanwhile', async () => {
    const { startSimulator } = await import('../src/server.ts');
    const own = await startSimulator();
    const control = (path: string, body: object) =>
      fetch(`${own.url}/_control/${path}`, { method: 'POST', body: JSON.stringify(body) });
    await control(`apps/${demoApp}`, { callback_url: receiver.url });
    await control(`wabas/${firstWaba}/holds`, { code: 368, expires_in_seconds: 0.05 });
    await expect.poll(() => receiver.updates().at(-1)?.value).toEqual({ event: 'ACCOUNT_RESTRICTION' });
    await own.stop();
  });

  test.each([131042, 131031])(
    '%i may come later: every message is accepted and fails, until it is over',
    async (code) => {
      await hold({ code, later: true });
      expect((await simulator.send(recipient)).status).toBe(200);
      const { wabas } = (await simulator.control('GET', 'overview')).body;
      expect(wabas[0].holds).toEqual([{ code, since: expect.any(String), later: true }]);
      await wait(4);
      await takeBack();
      expect((await simulator.send(recipient)).status).toBe(200);
      await wait(4);
      const news = (await told()).filter(({ field }) => field === 'messages');
      expect(news.map(({ value }) => value.errors?.[0].code ?? value.status)).toEqual([
        code,
        'sent',
        'delivered',
        'read',
      ]);
    },
  );

  test('no webhook comes for payment, nor for holds of a number', async () => {
    await hold({ code: 131042 });
    for (const code of [131037, 133010, 131045, 131048, 'no_answer']) {
      await simulator.control('POST', `numbers/${firstNumber}/holds`, { code });
    }
    await takeBack();
    await simulator.control('DELETE', `numbers/${firstNumber}/holds`);
    expect(await told()).toEqual([]);
  });
});
