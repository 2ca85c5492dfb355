import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import * as v from 'valibot';
import { CommandError, commandLine, runCommand } from './command.ts';
import { type Probe, probes } from './smoke-probes.ts';

const usage = `usage: npm run smoke -- https://API-ADDRESS

Replays against a deployment what no emulator can prove about the real gateway, and prints expected and got. It changes
nothing. With SMOKE_USERNAME and SMOKE_PASSWORD set (a user with campaigns) it replays what needs a token as well. Exit
status 1 when an answer differs: bring the local gateway in line with what the real one does.`;

/** No gateway lets anyone wait 30 s for a test: this one is only told. */
const notReplayed =
  'Not replayed: an endpoint that takes 30 s. Expected: 503 {"message":"Service Unavailable"}; endpoints answer by themselves first.';

interface Reply {
  readonly status: number;
  readonly body: string;
}

type Request = Pick<Probe, 'route' | 'headers' | 'body'>;

/** Sends one request with the path as it is, which `fetch` would tidy up. */
async function send(baseUrl: URL, { route, headers, body }: Request, token?: string): Promise<Reply> {
  const [method, path] = route.split(' ', 2);
  const request = baseUrl.protocol === 'https:' ? httpsRequest : httpRequest;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname: baseUrl.hostname,
        port: baseUrl.port,
        method,
        path,
        headers: { ...headers, ...authorization, ...length },
        signal: AbortSignal.timeout(60_000),
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }));
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const LoginSchema = v.object({ access_token: v.string() });

async function tokenFor(baseUrl: URL): Promise<string | undefined> {
  const { SMOKE_USERNAME: username, SMOKE_PASSWORD: password } = process.env;
  if (username === undefined || password === undefined) return undefined;
  const body = JSON.stringify({ username, password });
  const reply = await send(baseUrl, { route: 'POST /login', headers: { 'content-type': 'application/json' }, body });
  if (reply.status !== 200) throw new CommandError(`The login of ${username} answered ${reply.status}.`, 1);
  return v.parse(LoginSchema, JSON.parse(reply.body)).access_token;
}

const MessageSchema = v.pipe(v.string(), v.parseJson(), v.object({ message: v.string() }));

/** The part of the reply that the probe is about, as one line. */
function shown(reply: Reply, { expected }: Probe): string {
  const parsed = expected.message === undefined ? undefined : v.safeParse(MessageSchema, reply.body);
  return `${reply.status} ${parsed?.success === true ? parsed.output.message : reply.body}`.slice(0, 120);
}

/** Replays every probe and prints a table. Throws when an answer differs. */
async function replay(baseUrl: URL): Promise<void> {
  const token = await tokenFor(baseUrl);
  let differences = 0;
  printRow('what', 'expected', 'got');
  for (const probe of probes) {
    const expected = `${probe.expected.status} ${probe.expected.message ?? probe.expected.body ?? ''}`;
    const got = await gotOf(baseUrl, probe, token);
    const same = got === undefined || got === expected;
    if (!same) differences += 1;
    printRow(probe.proves, expected, got ?? 'skipped: no SMOKE_USERNAME and SMOKE_PASSWORD', same ? '' : '<-- differs');
  }
  console.log(`\n${notReplayed}`);
  if (differences > 0) throw new CommandError(`\n${differences} of ${probes.length} answers differ.`, 1);
}

/** What came back, in one line; undefined when the probe needs a token that there is none of. */
async function gotOf(baseUrl: URL, probe: Probe, token: string | undefined): Promise<string | undefined> {
  if (probe.needsToken === true && token === undefined) return undefined;
  try {
    return shown(await send(baseUrl, probe, probe.needsToken === true ? token : undefined), probe);
  } catch (error) {
    return `no answer: ${error instanceof Error ? error.message : error}`;
  }
}

function printRow(what: string, expected: string, got: string, mark = ''): void {
  console.log(`${what.padEnd(44)} ${expected.padEnd(50)} ${got.padEnd(mark === '' ? 0 : 50)} ${mark}`.trimEnd());
}

if (import.meta.main) {
  await runCommand(async () => {
    const { values, positionals } = commandLine({
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' } },
    });
    const [address] = positionals;
    if (values.help) return console.log(usage);
    if (address === undefined || positionals.length > 1 || !URL.canParse(address)) throw new CommandError(usage);
    console.error(`the API at ${address}`);
    await replay(new URL(address));
  });
}
