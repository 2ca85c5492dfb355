import { describe, expect, test } from 'vitest';
import { searched } from '../console/search.ts';
import { curlOf } from '../console/texts.ts';
import { startSimulator } from '../src/server.ts';
import { receiverOfFile } from './support/receiver-of-file.ts';
import { firstNumber, recipient, simulatorOfFile, templateMessage } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

/* These parts of the simulator stand behind its console; no browser is needed. */

const simulator = simulatorOfFile({ afresh: true });
const receiver = receiverOfFile(simulator);

describe('the service beside the simulator', () => {
  test('is asked only when it is known, and only on this machine', async () => {
    await simulator.control('POST', 'service', { url: null });
    const ask = { method: 'GET', path: '/health' };
    expect((await simulator.control('POST', 'service/try', ask)).body.message).toContain('is not known');
    for (const url of [
      'https://example.com',
      'http://127.0.0.1.example.com:80',
      'http://10.0.0.1:80',
      'file:///etc/passwd',
    ]) {
      expect((await simulator.control('POST', 'service', { url })).status, url).toBe(400);
    }
    await simulator.control('POST', 'service', { url: receiver.origin });
    await simulator.control('POST', 'reset');
    expect((await simulator.control('POST', 'service/try', ask)).body).toMatchObject({ status: 403, body: '' });
    for (const path of ['health', '//example.com/', 'http://example.com/', '/a b', '@example.com/']) {
      expect((await simulator.control('POST', 'service/try', { method: 'GET', path })).status, path).toBe(400);
    }
    const { body } = await simulator.control('GET', 'service');
    expect([body.url, body.users[0].username]).toEqual([receiver.origin, 'operator']);
  });
});

describe('an open page hears of what is new', () => {
  test('at once, and of nothing once it is closed', async () => {
    const leaving = new AbortController();
    const reply = await fetch(`${simulator.url}/_control/live`, { signal: leaving.signal });
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => JSON.parse(String((await reader?.read())?.value).replace(/^data: /, ''));
    const before = await next();
    await simulator.send(recipient);
    expect((await next()).messages).toBe(before.messages + 1);
    leaving.abort();
  });

  test('of a person who stops by themselves, when their time has come', async () => {
    let nowMs = Date.parse('2026-11-20T12:00:00Z');
    const timed = await startSimulator({ nowMs: () => nowMs });
    const { components } = validSends.welcome_offer;
    const reply = await fetch(`${timed.url}/v25.0/${firstNumber}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-platform-token', 'content-type': 'application/json' },
      body: JSON.stringify({ ...templateMessage('welcome_offer', components, 'es'), to: '15550231050' }),
    });
    expect(reply.status).toBe(200);
    const leaving = new AbortController();
    const live = await fetch(`${timed.url}/_control/live`, { signal: leaving.signal });
    const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader();
    const settings = async () => JSON.parse(String((await reader?.read())?.value).replace(/^data: /, '')).settings;
    const before = await settings();
    nowMs += 1_000;
    let after = before;
    while (after === before) after = await settings();
    leaving.abort();
    await timed.stop();
    expect(after).not.toBe(before);
  });

  test('twenty may watch, one more is refused; a page that leaves makes room', async () => {
    const leaving = new AbortController();
    const watch = () => fetch(`${simulator.url}/_control/live`, { signal: leaving.signal });
    const open = await Promise.all(Array.from({ length: 20 }, watch));
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200));
    expect((await watch()).status).toBe(503);
    leaving.abort();
    await expect
      .poll(async () => {
        const again = await fetch(`${simulator.url}/_control/live`);
        await again.body?.cancel();
        return again.status;
      })
      .toBe(200);
  });
});

describe('the console’s own functions', () => {
  test.each([
    ['', true],
    ['order A-1042', true],
    ['a-1042 ORDER !summer', true],
    ['order summer', false],
    ['order !A-1042', false],
    ['  ! order', true],
  ])('a search for %j', (query, isFound) => {
    expect(searched(query)('Hello Ana, your order A-1042')).toBe(isFound);
  });

  test('a request for a shell, whatever is in it', () => {
    const body = { text: "it's $HOME `x`" };
    expect(curlOf({ origin: 'http://127.0.0.1:1', method: 'POST', path: '/a b', query: { q: '$(x)' }, body })).toBe(
      [
        "curl -X POST 'http://127.0.0.1:1/a b?q=%24%28x%29' \\",
        '  -H "authorization: Bearer $PLATFORM_TOKEN" \\',
        "  -H 'content-type: application/json' \\",
        `  --data-raw '{"text":"it'\\''s $HOME \`x\`"}'`,
      ].join('\n'),
    );
  });
});
