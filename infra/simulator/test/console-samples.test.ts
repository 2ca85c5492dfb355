import { execFile, execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SampleRequest, samples } from '../console/reference-samples.ts';
import { closeAtOnce, openOnLoopback } from '../src/loopback.ts';

/* The samples of the console's reference run, and send exactly what the form contained. */

const run = promisify(execFile);
const hostile = `it's "quoted" \\ $HOME $(id) \`id\` %s {a} \n\ttab\u2028 ñ 🎉`;

const programs = {
  JavaScript: [process.execPath, '--input-type=module', '-e'],
  Python: ['python3', '-c'],
} as const;

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const languages = hasPython() ? (['JavaScript', 'Python'] as const) : (['JavaScript'] as const);

// Not every machine has curl: a shell function with its name prints the arguments.
test('a sample for a shell: curl gets every text as it is', async () => {
  const headers = { 'Idempotency-Key': hostile, 'content-type': 'application/json' };
  const url = "http://127.0.0.1:3000/v1/it's%20b?x=1";
  const sample = samples.curl({ url, method: 'POST', headers, body: hostile, isSigned: true });
  const told = 'curl() { for each in "$@"; do printf "%s\\0" "$each"; done; }';
  const env = { ...process.env, TOKEN: 'token-of-1001' };
  const { stdout } = await run('sh', ['-c', `${told}\n${sample}`], { env });
  expect(stdout.split('\0')).toEqual([
    ...['-X', 'POST', url],
    ...['-H', 'authorization: Bearer token-of-1001', '-H', `Idempotency-Key: ${hostile}`],
    ...['-H', 'content-type: application/json', '--data-raw', hostile, ''],
  ]);
});

describe.each(languages)('a sample in %s', (language) => {
  const asked: unknown[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method, url, headers } = incoming;
    const { authorization, 'idempotency-key': key } = headers;
    asked.push({ method, url, authorization, key, body: Buffer.concat(chunks).toString() });
    outgoing.writeHead(method === 'DELETE' ? 409 : 200).end('answered');
  });
  let origin = '';
  beforeAll(async () => {
    origin = `http://127.0.0.1:${await openOnLoopback(server, 0)}`;
  });
  afterAll(() => closeAtOnce(server));

  const outputOf = async (request: Omit<SampleRequest, 'url'>, path: string) => {
    const [program, ...args] = programs[language];
    asked.length = 0;
    const sample = samples[language]({ ...request, url: `${origin}${path}` });
    const { stdout } = await run(program, [...args, sample], { env: { ...process.env, TOKEN: 'token-of-1001' } });
    return stdout;
  };

  test('a signed request with a body, of texts that a shell or a program might take for its own', async () => {
    const sent = { text: hostile, list: [true, false, null, 1.5, {}, []] };
    const headers = { 'Idempotency-Key': `it's"$HOME`, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(sent, null, 2), isSigned: true };
    expect(await outputOf(request, "/v1/it's%20b?x=1")).toContain('answered');
    const [{ body, ...one }] = asked as [{ readonly body: string }];
    expect(one).toEqual({
      method: 'POST',
      url: "/v1/it's%20b?x=1",
      authorization: 'Bearer token-of-1001',
      key: `it's"$HOME`,
    });
    expect(JSON.parse(body)).toEqual(sent);
  });

  test('a body that is no JSON leaves as it is', async () => {
    const headers = { 'content-type': 'application/json' };
    await outputOf({ method: 'PUT', headers, body: `{ ${hostile}`, isSigned: false }, '/');
    expect(asked).toEqual([expect.objectContaining({ method: 'PUT', body: `{ ${hostile}` })]);
  });

  test('an answer that is a refusal is shown too', async () => {
    expect(await outputOf({ method: 'DELETE', headers: {}, isSigned: true }, '/v1')).toContain('answered');
    expect(asked).toEqual([expect.objectContaining({ method: 'DELETE', body: '' })]);
  });
});
