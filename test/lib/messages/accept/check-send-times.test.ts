import { describe, expect, test } from 'vitest';
import { parseHeaders } from '../../../../lib/http/request-headers.ts';
import { checkSend } from '../../../../lib/messages/accept/check-send.ts';
import type { SendRequest } from '../../../../lib/messages/request/send-request.ts';
import { SendTimeHeaders, sendTimeOf } from '../../../../lib/messages/when/send-time.ts';
import { body, makeTemplate, sendable } from '../../../support/platform-templates.ts';
import { nowMs, portsOf, sendOf } from './checked-send.ts';

const image = { type: 'image_url', value: 'https://cdn.example.com/a.png' } as const;

describe('with a time of its own (D56, R54)', () => {
  // Now it is Tuesday, 2023-11-14, 22:13:20 UTC: 23:13 in Madrid, 17:13 in New York.
  const [madrid, newYork] = ['34911110001', '12125550001'];
  const daysMs = (days: number) => days * 86_400_000;
  const timed = (asked: Readonly<Record<string, string>>, request: Partial<SendRequest> = {}) => {
    const time = sendTimeOf(parseHeaders(SendTimeHeaders, { headers: asked }));
    return sendOf({ recipients: [{ to: madrid }, { to: newYork }], ...request }, { time });
  };
  const open = { 'send-window': '09:00-20:00' };
  const opensMs = Date.parse('2023-11-15T08:00:00Z');

  test('its recipients are in the order of their lots, and its life begins with the first of them', async () => {
    const recipients = [{ to: madrid }, { to: newYork }, { to: madrid }, { to: '34911110002' }];
    const { dispatch } = await checkSend(timed(open, { recipients }), portsOf(sendable.plain).ports);
    expect(dispatch).toMatchObject({
      head: {
        ...{ acceptedAtMs: nowMs, total: 3, when: { asked: { window: '09:00-20:00' }, fromMs: nowMs } },
        keptUntilMs: nowMs + daysMs(28 + 37),
      },
      recipients: [{ to: newYork }, { to: madrid }, { to: '34911110002' }],
      repeats: [[2, 0]],
      positions: [1, 0, 3],
      lots: [
        { until: 1, open: expect.arrayContaining([[nowMs, Date.parse('2023-11-15T01:00:00Z')]]) },
        { until: 3, open: expect.arrayContaining([[opensMs, Date.parse('2023-11-15T19:00:00Z')]]) },
      ],
    });
    expect(dispatch.head).not.toMatchObject({ expiresAtMs: expect.anything() });
    const times = dispatch.lots?.flatMap((lot) => lot.open.flat()) ?? [];
    expect(Math.max(...times)).toBeLessThanOrEqual(nowMs + daysMs(28));
    // A dispatch in the order of its request needs no places, and a send without a time needs none of these members.
    const { dispatch: inOrder } = await checkSend(
      timed(open, { recipients: [{ to: newYork }, { to: madrid }] }),
      portsOf(sendable.plain).ports,
    );
    expect(inOrder.lots).toHaveLength(2);
    expect(inOrder).not.toMatchObject({ positions: expect.anything() });
  });

  test('its time to live counts from there, and all is kept for 37 days after it', async () => {
    const send = timed({ 'send-at': '2023-11-20T00:00:00Z' }, { ttlSeconds: 3_600 });
    const { dispatch, warning } = await checkSend(send, portsOf(sendable.plain).ports);
    const fromMs = Date.parse('2023-11-20T00:00:00Z');
    expect(dispatch.head).toMatchObject({
      when: { asked: { send_at: '2023-11-20T00:00:00Z' }, fromMs },
      expiresAtMs: fromMs + 3_600_000,
      keptUntilMs: fromMs + 3_600_000 + daysMs(37),
    });
    expect(dispatch.lots).toEqual([{ until: 2, open: [[fromMs, fromMs + 3_600_000]] }]);
    expect(warning).toBeUndefined();
  });

  test('the client is warned of a recipient who may be called only after the time to live, and the send is accepted', async () => {
    const { dispatch, warning } = await checkSend(timed(open, { ttlSeconds: 3_600 }), portsOf(sendable.plain).ports);
    expect(dispatch.lots?.map((lot) => lot.open.length)).toEqual([1, 0]);
    expect(warning).toBe(
      '1 of the recipients may never be called within its time to live, which ends at 2023-11-14T23:13:20.000Z, the first of them at 2023-11-15T08:00:00.000Z: they end as expired',
    );
  });

  test('it keeps what its template takes of the header, to be judged again', async () => {
    const request = { header: image, recipients: [{ to: madrid, params: { body: ['Ana'] } }] };
    expect((await checkSend(timed(open, request), portsOf(sendable.image).ports)).dispatch.header).toEqual(image);
  });

  test.each([
    ['Send-Window', open],
    ['Send-Days', { 'send-days': 'mon' }],
  ])('a one-time code has no %s, and may have a moment', async (path, asked) => {
    const { ports } = portsOf(makeTemplate([body('Code {{1}}.')], { category: 'Authentication' }));
    const recipients = [{ to: madrid, params: { body: ['123456'] } }];
    await expect(checkSend(timed(asked, { recipients }), ports)).rejects.toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ path, message: expect.stringMatching(/: expected none, for a template of category/) }] },
    });
    const moment = timed({ 'send-at': '2023-11-20T00:00:00Z' }, { recipients });
    expect((await checkSend(moment, ports)).dispatch.head).toMatchObject({ urgent: true, when: {} });
  });

  test('the client’s zone counts where a number’s is not known, and is read for such alone', async () => {
    const recipients = [{ to: madrid }, { to: '99912345678' }];
    const { ports } = portsOf(sendable.plain);
    const refused = { code: 'invalid_recipients', details: { errors: [{ path: 'recipients[1].to' }] } };
    await expect(checkSend(timed(open, { recipients }), ports)).rejects.toMatchObject(refused);
    const read: number[] = [];
    const zoneOfClient = async (clientId: number) => {
      read.push(clientId);
      return 'America/New_York';
    };
    const known = { ...ports, directory: { ...ports.directory, zoneOfClient } };
    const { dispatch } = await checkSend(timed(open, { recipients }), known);
    expect([dispatch.positions, read]).toEqual([[1, 0], [1001]]);
    await checkSend(timed(open), known);
    expect(read).toHaveLength(1);
  });
});
