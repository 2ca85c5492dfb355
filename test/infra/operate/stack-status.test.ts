import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { protectionFor, type StackStatus, statusesOf } from '../../../infra/operate/stage/stack-status.ts';

const standing = (status: string | undefined, refusesDeletion = false): StackStatus | undefined =>
  status === undefined ? undefined : { status, refusesDeletion };

describe('a deployment is protected', () => {
  const notThere = [undefined, 'REVIEW_IN_PROGRESS', 'CREATE_FAILED', 'ROLLBACK_COMPLETE', 'DELETE_COMPLETE'];
  const there = [
    'CREATE_COMPLETE',
    'UPDATE_COMPLETE',
    'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS',
    'UPDATE_FAILED',
    'UPDATE_ROLLBACK_COMPLETE',
    'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS',
    'IMPORT_COMPLETE',
    'IMPORT_ROLLBACK_COMPLETE',
  ];
  const cases = [
    ...notThere.flatMap((status) => notThere.map((other) => [status, other, 'false'] as const)),
    ...notThere.flatMap((status) => there.map((other) => [status, other, 'false'] as const)),
    ...there.flatMap((status) => notThere.map((other) => [status, other, 'stateful'] as const)),
    ...there.flatMap((status) => there.map((other) => [status, other, 'true'] as const)),
  ];

  it.each(cases)('stateful %s, stateless %s: %s', (stateful, stateless, protection) => {
    const isMade = there.includes(stateful ?? '');
    const standings = { stateful: standing(stateful, isMade), stateless: standing(stateless) };
    expect(protectionFor('prod', standings)).toBe(protection);
  });
});

describe('a deployment with an edge is protected', () => {
  const [made, notMade] = [standing('UPDATE_COMPLETE'), standing('ROLLBACK_COMPLETE')];

  it.each([
    ['true', made, made, made],
    ['stateful', made, made, notMade],
    ['stateful', made, made, undefined],
    ['stateful', made, notMade, made],
    ['false', notMade, made, made],
  ] as const)('%s', (protection, stateful, stateless, edge) => {
    expect(protectionFor('prod', { stateful, stateless, edge })).toBe(protection);
  });

  it('and not begun while that is being changed', () => {
    const edge = standing('UPDATE_IN_PROGRESS');
    expect(() => protectionFor('prod', { stateful: made, stateless: made, edge })).toThrow(
      'The stack template-messaging-prod-edge is being changed (UPDATE_IN_PROGRESS): wait until that has ended.',
    );
  });
});

describe('no deployment is begun', () => {
  const other = standing('CREATE_COMPLETE', true);
  const refusal = (name: 'stateful' | 'stateless', one: StackStatus | undefined) => () =>
    protectionFor('prod', { stateful: other, stateless: other, [name]: one });

  it.each(['stateful', 'stateless'] as const)('while the %s stack is being changed', (name) => {
    for (const status of ['CREATE_IN_PROGRESS', 'ROLLBACK_IN_PROGRESS', 'UPDATE_IN_PROGRESS', 'DELETE_IN_PROGRESS']) {
      expect(refusal(name, standing(status))).toThrow(
        `The stack template-messaging-prod-${name} is being changed (${status}): wait until that has ended.`,
      );
    }
  });

  it.each(['ROLLBACK_FAILED', 'DELETE_FAILED', 'UPDATE_ROLLBACK_FAILED', 'IMPORT_ROLLBACK_FAILED', 'SOMETHING_NEW'])(
    'when a stack is in %s, which no deployment ends',
    (status) => {
      expect(refusal('stateful', standing(status))).toThrow(
        `The stack template-messaging-prod-stateful is in a state that no deployment gets it out of (${status}): infra/RECOVERY.md says what to do.`,
      );
    },
  );

  it('when what a failed creation has left cannot be taken away', () => {
    expect(refusal('stateless', standing('ROLLBACK_COMPLETE', true))).toThrow(
      'The stack template-messaging-prod-stateless was never made whole (ROLLBACK_COMPLETE) and refuses to be deleted: infra/RECOVERY.md says what to do.',
    );
  });

  it.each(['REVIEW_IN_PROGRESS', 'CREATE_FAILED'])('but for one in %s, which needs no deletion', (status) => {
    expect(refusal('stateful', standing(status, true))()).toBe('false');
  });
});

describe('how the stacks stand', () => {
  let server: Server;
  let answers: Readonly<Record<string, string | undefined>>;
  /** The signature of each request names its region. */
  let regions: (string | undefined)[];
  beforeEach(async () => {
    regions = [];
    server = createServer((request, response) => {
      regions.push(/\/([a-z0-9-]+)\/cloudformation\//.exec(request.headers.authorization ?? '')?.[1]);
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        const name = new URLSearchParams(body).get('StackName') ?? '';
        const stack = answers[name];
        response.writeHead(stack === undefined ? 400 : 200, { 'content-type': 'text/xml' });
        response.end(
          stack === undefined
            ? `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`
            : `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${stack}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const environment = { AWS_ACCESS_KEY_ID: 'some', AWS_SECRET_ACCESS_KEY: 'thing', AWS_REGION: 'eu-west-1' };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${port}`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });

  it('is asked of CloudFormation, by their names', async () => {
    answers = {
      'template-messaging-prod-stateful':
        '<StackStatus>UPDATE_COMPLETE</StackStatus><EnableTerminationProtection>true</EnableTerminationProtection>',
      'template-messaging-prod-stateless': '<StackStatus>ROLLBACK_COMPLETE</StackStatus>',
    };
    expect(await statusesOf('prod')).toEqual({
      stateful: { status: 'UPDATE_COMPLETE', refusesDeletion: true },
      stateless: { status: 'ROLLBACK_COMPLETE', refusesDeletion: false },
    });
  });

  it('is asked of the edge in its own region, where there is one', async () => {
    answers = { 'template-messaging-prod-edge': '<StackStatus>CREATE_COMPLETE</StackStatus>' };
    expect(await statusesOf('prod', { region: 'eu-west-1', hasEdge: true })).toEqual({
      stateful: undefined,
      stateless: undefined,
      edge: { status: 'CREATE_COMPLETE', refusesDeletion: false },
    });
    expect(regions).toEqual(['eu-west-1', 'eu-west-1', 'us-east-1']);
  });

  it('is nothing where there are none', async () => {
    answers = {};
    expect(await statusesOf('prod')).toEqual({ stateful: undefined, stateless: undefined });
  });
});
