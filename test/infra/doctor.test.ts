import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runScript } from '../support/processes.ts';

/*
 * `infra/ops check --stage prod` asks a server that answers as AWS does: these tests check its calls and what it
 * concludes. Nothing is provisioned.
 */

const stackName = (purpose: string) => `template-messaging-prod-${purpose}`;
const topic = 'arn:aws:sns:eu-west-1:123456789012:alarms';
const unheard = 'arn:aws:sns:eu-west-1:123456789012:unheard';

/** The alarms of the stacks have these topics. Each stack has two pages of resources. */
let alarmTopics: Readonly<Record<string, readonly string[]>>;
let edge: 'none' | 'enabled' | 'disabled';
/** The account has this quota, and Lambda may refuse to tell its own. */
let gatewayRate = 10_000;
let secretsRefuse = false;
let lambdaRefuses = false;
let asked: string[];
let address: string;
let aws: Server;

const xml = (action: string, result: string) =>
  `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`;
const member = (text: string) => `<member>${text}</member>`;
const stack = (name: string) =>
  `<StackName>${name}</StackName><StackStatus>UPDATE_COMPLETE</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime>` +
  `<Outputs>${name.endsWith('stateless') ? member(`<OutputKey>ApiUrl</OutputKey><OutputValue>${address}</OutputValue>`) : ''}</Outputs>`;
const resource = (type: string, id: string) =>
  `<ResourceType>${type}</ResourceType><PhysicalResourceId>${id}</PhysicalResourceId><LogicalResourceId>a</LogicalResourceId>` +
  '<LastUpdatedTimestamp>2026-01-01T00:00:00Z</LastUpdatedTimestamp><ResourceStatus>CREATE_COMPLETE</ResourceStatus>';

const absent =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>It does not exist</Message></Error></ErrorResponse>';

/** The origin of the distribution is this server too. */
const distribution = () => {
  const { port } = new URL(address);
  const origin =
    '<Id>api</Id><DomainName>127.0.0.1</DomainName><CustomOriginConfig><OriginProtocolPolicy>http-only</OriginProtocolPolicy>' +
    `<HTTPPort>${port}</HTTPPort><HTTPSPort>443</HTTPSPort></CustomOriginConfig>`;
  return (
    '<Distribution><Id>E1</Id><Status>Deployed</Status><DistributionConfig>' +
    '<Aliases><Quantity>1</Quantity><Items><CNAME>api.example.com</CNAME></Items></Aliases>' +
    `<Origins><Quantity>1</Quantity><Items><Origin>${origin}</Origin></Items></Origins>` +
    `<Enabled>${edge === 'enabled'}</Enabled><WebACLId>arn:aws:wafv2:x</WebACLId></DistributionConfig></Distribution>`
  );
};

/** Lambda answers by REST, with the error name in a header. Only the login has reserved concurrency (60). */
function lambdaAnswer(path: string): { readonly status: number; readonly body: object; readonly fault?: string } {
  if (path.startsWith('/2016-08-19/account-settings')) {
    if (lambdaRefuses)
      return {
        status: 403,
        fault: 'AccessDeniedException',
        body: { Message: 'User: x is not authorized to perform: lambda:GetAccountSettings' },
      };
    return { status: 200, body: { AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 890 } } };
  }
  if (path.includes('-login/')) return { status: 200, body: { ReservedConcurrentExecutions: 60 } };
  return {
    status: 404,
    fault: 'ResourceNotFoundException:http://internal.amazon.com/',
    body: { Type: 'User', Message: 'no such function' },
  };
}

/** AWS has two pages of default quotas; the account has another rate. */
function quotasAnswer(target: string, text: string): object {
  const { ServiceCode, NextToken } = JSON.parse(text);
  const quota = (QuotaCode: string, QuotaName: string, Value: number) => ({ ServiceCode, QuotaCode, QuotaName, Value });
  if (ServiceCode === 'sqs')
    return {
      Quotas: [
        quota('L-1', 'Messages In Flight per FIFO Queue', 20),
        quota('L-2', 'Messages In Flight per Standard Queue', 120_000),
      ],
    };
  if (target.endsWith('ListServiceQuotas')) return { Quotas: [quota('L-8A5B8E43', 'Throttle rate', gatewayRate)] };
  return NextToken === undefined
    ? { Quotas: [quota('L-8A5B8E43', 'Throttle rate', 10_000)], NextToken: 'more' }
    : { Quotas: [quota('L-CDF5615A', 'Throttle burst rate', 5_000), quota('L-65B5C802', 'Routes per HTTP API', 300)] };
}

/** Returns undefined for a stack that does not exist. */
function queryAnswer(form: URLSearchParams): string | undefined {
  const action = form.get('Action') ?? '';
  const name = form.get('StackName') ?? '';
  if (action === 'GetCallerIdentity') return xml(action, '<Account>123456789012</Account>');
  if (action === 'DescribeStacks' && name.endsWith('edge') && edge === 'none') return undefined;
  if (action === 'DescribeStacks') return xml(action, `<Stacks>${member(stack(name))}</Stacks>`);
  if (action === 'ListStackResources') {
    const owner = (alarm: string) =>
      alarm.includes('edge') ? 'edge' : alarm.endsWith('5xx') ? 'stateless' : 'stateful';
    const names = Object.keys(alarmTopics).filter((each) => name.endsWith(`-${owner(each)}`));
    const [first, ...rest] = names.map((each) => member(resource('AWS::CloudWatch::Alarm', each)));
    const other = name.endsWith('edge')
      ? member(resource('AWS::CloudFront::Distribution', 'E1'))
      : member(resource('AWS::SQS::Queue', 'no alarm'));
    const page = form.has('NextToken')
      ? `<StackResourceSummaries>${rest.join('')}</StackResourceSummaries>`
      : `<StackResourceSummaries>${other}${first ?? ''}</StackResourceSummaries><NextToken>more</NextToken>`;
    return xml(action, page);
  }
  const heard = form.get('TopicArn') === topic;
  const subscribers = heard ? ['PendingConfirmation', `${topic}:1`] : [];
  const members = subscribers.map((arn) => member(`<SubscriptionArn>${arn}</SubscriptionArn>`)).join('');
  return xml(action, `<Subscriptions>${members}</Subscriptions>`);
}

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}
const xmlReply = (text: string, status = 200): Reply => ({ status, headers: { 'content-type': 'text/xml' }, text });
const jsonReply = (body: object, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  text: JSON.stringify(body),
});

/** `target` names the service and the operation. */
function jsonAnswer(target: string, text: string): Reply {
  if (target.endsWith('DescribeAlarms')) {
    const names: string[] = JSON.parse(text).AlarmNames;
    const MetricAlarms = names.map((AlarmName) => ({
      AlarmName,
      ActionsEnabled: true,
      AlarmActions: alarmTopics[AlarmName],
    }));
    return jsonReply({ MetricAlarms, CompositeAlarms: [] });
  }
  if (target.startsWith('ServiceQuotas')) return jsonReply(quotasAnswer(target, text));
  if (target.startsWith('secretsmanager') && secretsRefuse) {
    const message = 'User: x is not authorized to perform: secretsmanager:GetSecretValue';
    return jsonReply({ __type: 'AccessDeniedException', message }, 400);
  }
  if (target.startsWith('DynamoDB')) return jsonReply({ Items: [], Count: 0 });
  return jsonReply({ __type: 'ResourceNotFoundException', message: 'no value' }, 400);
}

/** Answers for all AWS services and the deployed API, and records each call in `asked`. */
function answerTo({ url = '', headers }: IncomingMessage, text: string): Reply {
  if (url === '/health') {
    const past = headers.host === 'api.example.com';
    if (past) return { status: 403, text: '{"message":"no","code":"edge_required"}' };
    return { text: '{"status":"ok"}' };
  }
  if (url.startsWith('/2020-05-31/distribution/E1')) {
    asked.push('GetDistribution');
    return xmlReply(distribution());
  }
  if (url.startsWith('/20')) {
    asked.push(url.includes('account-settings') ? 'GetAccountSettings' : 'GetFunctionConcurrency');
    const { status, fault, body } = lambdaAnswer(url);
    const named: Record<string, string> = fault === undefined ? {} : { 'x-amzn-errortype': fault };
    return { status, headers: named, text: JSON.stringify(body) };
  }
  const target = String(headers['x-amz-target'] ?? '');
  const form = new URLSearchParams(text);
  asked.push(target === '' ? (form.get('Action') ?? '') : target);
  if (target !== '') return jsonAnswer(target, text);
  const answer = queryAnswer(form);
  return answer === undefined ? xmlReply(absent, 400) : xmlReply(answer);
}

beforeAll(async () => {
  aws = createServer(async (request, response) => {
    const { status = 200, headers = {}, text } = answerTo(request, (await buffer(request)).toString());
    response.writeHead(status, headers).end(text);
  });
  await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
});
afterAll(() => {
  aws.closeAllConnections();
  aws.close();
});

const doctor = (...more: string[]) =>
  runScript('infra/operate/ops.ts', {
    arguments: ['check', '--stage', 'prod', ...more],
    environment: {
      AWS_ENDPOINT_URL: address,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'some',
      AWS_SECRET_ACCESS_KEY: 'thing',
      AWS_PROFILE: undefined,
    },
  }).ended;

interface Stage {
  readonly edge?: 'enabled' | 'disabled';
  readonly alarms: Readonly<Record<string, readonly string[]>>;
}
const there = 'arn:aws:sns:us-east-1:123456789012:edge-alarms';
const plain: Stage = { alarms: { 'dispatch-age': [topic], 'sync-age': [unheard], 'api-5xx': [] } };
const withEdge: Stage = { edge: 'enabled', alarms: { 'api-5xx': [topic], 'edge-5xx-share': [there] } };
const switchedOff: Stage = { edge: 'disabled', alarms: { 'api-5xx': [topic], 'edge-5xx-share': [] } };

/** Each stage has one run of doctor, because a run takes seconds. */
const said = new Map<Stage, { readonly code: number | null; readonly stdout: string }>();
beforeAll(async () => {
  asked = [];
  for (const stage of [plain, withEdge, switchedOff]) {
    edge = stage.edge ?? 'none';
    alarmTopics = Object.fromEntries(Object.entries(stage.alarms).map(([name, topics]) => [stackName(name), topics]));
    said.set(stage, await doctor());
  }
});
const saidOf = (stage: Stage) => said.get(stage) ?? { code: null, stdout: '' };
const joinedOf = (stage: Stage) => saidOf(stage).stdout.replaceAll(/\n {2}/g, ' ');

it('a stage with whole stacks, an alarm without a topic, and a topic without a subscriber', () => {
  const { code, stdout } = saidOf(plain);
  const lines = stdout.split('\n');
  expect([...lines.slice(0, 3), lines.find((line) => line.startsWith('✓ API'))]).toEqual([
    '✓ credentials and region: stage prod, account 123456789012, region eu-west-1',
    '✓ stack template-messaging-prod-stateful: UPDATE_COMPLETE',
    '✓ stack template-messaging-prod-stateless: UPDATE_COMPLETE',
    `✓ API: ${address}/health answers 200`,
  ]);
  expect(stdout).toMatch(
    /^✗ alarms: 1 of 3 have no topic to tell; npm run deploy -- -c stage=prod -c pageTopicArn=ARN -c\s+ticketTopicArn=ARN$/m,
  );
  expect(lines).toContain(`✓ alarm topic ${topic}: 1 subscribed`);
  expect(stdout).toMatch(/^✗ alarm topic \S+:unheard: no address is subscribed; aws sns\s+subscribe/m);
  expect(stdout).toMatch(/^✗ token keys: there are none/m);
  expect(stdout).toMatch(/^✗ platform: no WABA is provisioned; infra\/ops provision FILE$/m);
  expect(lines).toContain('– edge: the stage has none before its API');
  expect({ code, last: lines.at(-2) }).toEqual({ code: 1, last: '11 good, 6 bad, 1 skipped' });
});

it('a stage with an edge, which has a region and a topic of its own', () => {
  expect(saidOf(withEdge).stdout.split('\n')).toEqual(
    expect.arrayContaining([
      '✓ stack template-messaging-prod-edge: UPDATE_COMPLETE',
      '✓ edge: distribution E1 is enabled and deployed, with its web ACL',
      '✓ edge: the API refuses what did not come through it',
      '✓ edge alarms: 1, all switched on, each is told',
      '✓ alarms: 1, all switched on, each is told',
    ]),
  );
  expect(joinedOf(withEdge)).toContain(
    `✗ alarm topic ${there}: no address is subscribed; aws sns subscribe --topic-arn ${there} --region us-east-1`,
  );
});

it('an edge that is switched off, whose alarms have no topic', () => {
  expect(saidOf(switchedOff).stdout).toMatch(
    /^✗ edge: distribution E1 is switched off, no client is answered; switch it on/m,
  );
  expect(joinedOf(switchedOff)).toMatch(
    /^✗ edge alarms: 1 of 1 have no topic to tell; .+ -c edgePageTopicArn=ARN -c edgeTicketTopicArn=ARN$/m,
  );
});

it('the quotas of an account that has enough, whatever our own functions have reserved of it', () => {
  expect(joinedOf(plain)).toMatch(
    /^✓ Lambda concurrency: the account has 1000 in this region, of which 50 are reserved by others; the stacks need \d+: /m,
  );
  expect(joinedOf(plain)).toMatch(/^✓ gateway quotas: 10000 requests a second, .+; the stacks need \d+$/m);
  expect(joinedOf(plain)).toMatch(/^✓ queue quotas: 120000 messages in flight of a queue; workers hold 5000 at most$/m);
});

it('before the first deployment: quotas below the context values, and a missing right', async () => {
  gatewayRate = 2_500;
  const few = await doctor('--quotas', '-c', 'stageRatePerSecond=4000', '-c', 'accountConcurrency=2000');
  const said = few.stdout.replaceAll(/\n {2}/g, ' ');
  expect(said).toMatch(
    /^✗ gateway quotas: 2500 .+ --quota-code L-8A5B8E43 --desired-value 5\d{3}, or lower the limits/m,
  );
  expect(said).toMatch(/^✗ Lambda concurrency: .+ deploy with -c accountConcurrency=1000$/m);
  expect(said).not.toMatch(/^. (?:stack|API|token keys)/m);
  expect(few.code).toBe(1);
  lambdaRefuses = true;
  expect((await doctor('--quotas')).stdout.replaceAll(/\n {2}/g, ' ')).toMatch(
    /^✗ Lambda concurrency: The AWS credentials do not allow it: User: x is not authorized to perform: lambda:GetAccountSettings$/m,
  );
  const wrong = await doctor('--quotas', '-c', 'stageRate=1');
  expect(wrong.stderr).toMatch(/^there is no context value stageRate: /m);
});

it('a role that may read no secret sees all else; what it cannot see is no fault', async () => {
  secretsRefuse = true;
  const said = (await doctor()).stdout.replaceAll(/\n {2}/g, ' ');
  expect(said).toMatch(/^– keys: The AWS credentials do not allow it: .+ secretsmanager:GetSecretValue$/m);
  expect(said).toMatch(/^✓ API: /m);
});

it('it asks and writes nothing', () => {
  const verbs = asked.map((call) => call.slice(call.lastIndexOf('.') + 1));
  expect(verbs.filter((verb) => !/^(?:Get|Describe|List|Query)/.test(verb))).toEqual([]);
  expect(new Set(verbs).size).toBeGreaterThan(5);
});
