import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { demoDid } from '../../infra/local/demo/audience.ts';
import { commandLine } from '../../infra/operate/command.ts';
import { emulatedStage } from '../../infra/operate/stage/emulator/stage.ts';
import { openDeadLetters } from '../../infra/operate/target.ts';
import { encodeWake } from '../../lib/webhooks/delivery/pending.ts';
import { emulated, type Rehearsal } from '../game-days/rehearsal.ts';
import { proofCommand } from './command.ts';
import { playAll } from './trial/play.ts';
import { demoWabaId, orderUpdateId } from './trial/trial.ts';

const usage = `Deploys the service to an emulator of AWS that judges each call by the caller's policies, and runs the commands of operators
there under both roles of the stack: who looks sees everything and changes nothing, who acts does everything.

npm run proof -- roles`;

const clientId = 1001;
const recipients = { ended: 40, held: 400 };
const person = '5491199900001';
/** The doctor misses on the emulator what that does not have. */
const mayEndOtherwise = /^infra\/ops check/;
const denial = /not authorized|AccessDenied|do not allow/;
/** The emulator takes the reading of a function's concurrency for its writing. */
const misjudged = 'lambda:PutFunctionConcurrency';
/** The doctor says several things, each from such a sign on. */
const isDenied = (output: string) =>
  output.split(/^(?=[✓✗–] )/m).some((part) => denial.test(part) && !part.includes(misjudged));

/** AWS has no right for these that a role of the stack has: another action on a table of the stage, another table. */
const outside = [
  'aws dynamodb scan --table-name template-messaging-$STAGE-templates --max-items 1',
  `aws dynamodb get-item --table-name template-messaging-$STAGE-redirects --key '{"pk":{"S":"a"},"sk":{"S":"a"}}'`,
  'aws lambda list-functions --max-items 1',
];

interface Standing {
  readonly dispatchId: string;
  readonly unknownId: string;
  /** The command says it so. */
  readonly hold: string;
}

const ops = (words: string) => `infra/ops ${words} --stage $STAGE`;

const looks = ({ dispatchId }: Standing) => [
  ops('holds'),
  ops('outcomes --since 1h'),
  ops(`outcomes --dispatch ${dispatchId} --all`),
  ops(`number ${demoDid}`),
  ops('audit'),
  ops(`template-types --client ${clientId}`),
  ops(`events list --client ${clientId} --since 1h`),
  ops('check'),
];

const acts = ({ unknownId, hold }: Standing) => [
  ops(`holds --end '${hold}'`),
  ops(`number ${demoDid} --limit 5 --for 1h`),
  ops(`number ${demoDid} --limit none`),
  ops(`outcomes --resolve ${unknownId} failed --yes`),
  ops('redrive events --yes'),
  `printf demo-platform-token | ${ops(`credential ${demoWabaId} --token - --yes`)}`,
  ops('rotate-keys'),
  ops('rotate-keys --sealing'),
  ops('provision clients.json'),
  ops(`opt-outs import people.csv --client ${clientId}`),
  ops(`erase --recipient ${person} --yes`),
  ops(`events replay --client ${clientId} --since 1h`),
];

/** Has something to show, to end and to send again. */
async function prepared(rehearsal: Rehearsal): Promise<Standing> {
  const client = await rehearsal.logIn();
  await rehearsal.synchronized(client);
  await client.receiveEvents('https://webhooks.example.com/events');
  const lost = { match: { method: 'POST', path: '/messages' }, action: { drop: 'before' }, times: 1 };
  await rehearsal.platform('POST /_control/faults', lost);
  const { did, dispatchId } = await rehearsal.send(client, recipients.ended);
  await rehearsal.ended();
  const rows = await client.rows(did, dispatchId);
  await rehearsal.send(client, recipients.held);
  await rehearsal.midway(recipients.ended + 10);
  await rehearsal.platform(`POST /_control/templates/${orderUpdateId}/pause`, {});
  const held = await rehearsal.until(
    'the template is held',
    async () => (await rehearsal.tried(ops('holds'))).output,
    (output) => output.includes("--end '"),
  );
  const letters = await openDeadLetters(emulatedStage, 'events');
  await letters.client.send(new SendMessageCommand({ QueueUrl: letters.url, MessageBody: encodeWake(clientId) }));
  writeFileSync(join(rehearsal.folder, 'people.csv'), `recipient\n${person}\n`);
  return {
    dispatchId,
    unknownId: `${dispatchId}-${rows.findIndex(({ state }) => state === 'unknown')}`,
    hold: /--end '([^']+)'/.exec(held)?.[1] ?? '',
  };
}

/** The shell makes its calls as that role from now on. */
async function become(rehearsal: Rehearsal, name: 'LookRole' | 'ActRole'): Promise<void> {
  const stacks = `aws cloudformation describe-stacks --query "Stacks[].Outputs[]|[?OutputKey=='${name}'].OutputValue"`;
  const session = 'Credentials.[AccessKeyId,SecretAccessKey,SessionToken]';
  await rehearsal.operate(`export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test; unset AWS_SESSION_TOKEN
ROLE=$(${stacks} --output text)
SESSION=$(aws sts assume-role --role-arn $ROLE --role-session-name operator --query '${session}' --output text)
read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN <<< "$SESSION"
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
aws sts get-caller-identity --query Arn`);
}

interface Judged {
  readonly command: string;
  readonly output: string;
  readonly isWell: boolean;
  readonly isDenied: boolean;
}

/** Tells of each command how AWS judged it. Returns those that were not judged as they must be. */
async function tried(
  rehearsal: Rehearsal,
  commands: readonly string[],
  mustBe: (judged: Judged) => boolean,
): Promise<readonly string[]> {
  const others: string[] = [];
  for (const command of commands) {
    const { output, failed } = await rehearsal.tried(command);
    const isWell = failed.length === 0 || mayEndOtherwise.test(command);
    const judged = { command, output, isWell, isDenied: isDenied(output) };
    rehearsal.tell('proof', `${isWell ? 'well  ' : 'failed'} ${judged.isDenied ? 'denied ' : 'allowed'} ${command}`);
    if (!mustBe(judged)) others.push(`${command}:\n${output}`);
  }
  return others;
}

const isDone = (judged: Judged) => judged.isWell && !judged.isDenied;
const isRefused = (judged: Judged) => !judged.isWell && judged.isDenied;
/** Who looks reads no secret, so some things cannot be seen: the command says so. */
const isShown = ({ isWell }: Judged) => isWell;

async function play(rehearsal: Rehearsal): Promise<string> {
  const standing = await prepared(rehearsal);
  const [show, change] = [looks(standing), acts(standing)];
  const done = async () => (await rehearsal.tried(ops('audit --json'))).output;

  await become(rehearsal, 'LookRole');
  const before = await done();
  const others = [
    ...(await tried(rehearsal, show, isShown)),
    ...(await tried(rehearsal, [...change, ...outside], isRefused)),
    ...((await done()) === before ? [] : ['who looks has done something that is audited']),
  ];
  await become(rehearsal, 'ActRole');
  others.push(
    ...(await tried(rehearsal, [...show, ...change], isDone)),
    ...(await tried(rehearsal, outside, isRefused)),
  );

  await rehearsal.platform(`POST /_control/templates/${orderUpdateId}`, { status: 'APPROVED' });
  const { faults } = await rehearsal.compared();
  // The operator has settled one that never left.
  others.push(...faults.filter((fault) => !fault.includes(standing.unknownId)));
  if (others.length > 0) throw new Error(others.join('\n'));
  return `${show.length} commands look, ${change.length} act, ${outside.length} calls are denied to both`;
}

const roles = emulated({ name: 'roles', incident: 'operators run their commands under the roles of the stack', play });

async function run(): Promise<void> {
  const { values } = commandLine({ options: { help: { type: 'boolean' } } });
  if (values.help) return console.log(usage);
  await playAll([roles]);
}

await proofCommand(run);
