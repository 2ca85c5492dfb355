export interface Probe {
  readonly proves: string;
  /** The form is `METHOD /path?query`, sent as it is. */
  readonly route: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A probe with a real token is skipped without one. */
  readonly needsToken?: true;
  /** Any of these is right, because a route may exist only in some deployments. */
  readonly expected: readonly [ExpectedReply, ...ExpectedReply[]];
}

export interface ExpectedReply {
  readonly status: number;
  /** The whole body is compared. */
  readonly body?: string;
  /** Only the body's `message` is compared, because the service's answer has more fields. */
  readonly message?: string;
}

const ofGateway = (status: number, message: string) => ({ status, body: JSON.stringify({ message }) });
const notFound = ofGateway(404, 'Not Found');
const unauthorized = ofGateway(401, 'Unauthorized');
/** The endpoint gives this answer after the authorizer. */
const refusedToken = { status: 401, body: JSON.stringify({ message: 'Unauthorized', code: 'unauthorized' }) };
const tooLarge = ofGateway(413, 'Request Entity Too Large');

const json = { 'content-type': 'application/json' };
const badToken = { authorization: 'Bearer not.a.token' };

/** The probes check what AWS does not document clearly of the gateway, and the basic facts. */
export const probes: readonly Probe[] = [
  { proves: 'the API answers', route: 'GET /health', expected: [{ status: 200, body: '{"status":"ok"}' }] },
  { proves: 'no such route', route: 'GET /v1/nowhere', expected: [notFound] },
  { proves: 'other method on a known path', route: 'PATCH /health', expected: [notFound] },
  { proves: 'literals are compared with case', route: 'GET /Health', expected: [notFound] },
  { proves: 'a trailing slash is another path', route: 'GET /health/', expected: [notFound] },
  {
    proves: 'malformed percent-encoding',
    route: 'POST /v1/template/messages/%zz',
    expected: [ofGateway(400, 'Bad Request')],
  },
  { proves: 'no token: the gateway refuses', route: 'GET /v1/templates', expected: [unauthorized] },
  {
    proves: "a bad token: the authorizer's verdict arrives",
    route: 'GET /v1/templates',
    headers: badToken,
    expected: [refusedToken],
  },
  { proves: 'and does when asked again', route: 'GET /v1/templates', headers: badToken, expected: [refusedToken] },
  { proves: '%2F stays inside its segment', route: 'POST /v1/template/messages/549%2F11', expected: [unauthorized] },
  {
    proves: 'request head over 10,240 bytes',
    route: 'GET /health',
    headers: { 'x-padding': 'x'.repeat(10_300) },
    expected: [ofGateway(431, 'Request Header Fields Too Large')],
  },
  {
    proves: 'JSON without a content type is understood',
    route: 'POST /login',
    body: '{"username":"smoke test","password":"nobody"}',
    expected: [{ status: 401, body: '' }],
  },
  {
    proves: 'event over the 6 MB of Lambda',
    route: 'POST /login',
    headers: json,
    body: JSON.stringify({ username: 'x'.repeat(6_400_000) }),
    expected: [tooLarge],
  },
  {
    proves: 'body over the 10 MB of the gateway',
    route: 'POST /login',
    headers: json,
    body: JSON.stringify({ username: 'x'.repeat(10_600_000) }),
    expected: [tooLarge],
  },
  {
    // Without redirectBaseUrl this route does not exist.
    proves: 'redirects: no such code, or no redirects in this deployment',
    route: 'GET /r/smoke',
    expected: [{ status: 404, message: 'no redirect of this code' }, notFound],
  },
  {
    proves: "the platform's webhook: a verify token that is none",
    route: 'GET /platform/webhook?hub.mode=subscribe&hub.verify_token=smoke&hub.challenge=1',
    expected: [{ status: 403, message: 'not a verify token of this service' }],
  },
  {
    proves: "the platform's webhook: a body without a signature",
    route: 'POST /platform/webhook',
    headers: json,
    body: '{}',
    expected: [{ status: 401, message: 'not signed by an app of the platform that is known here' }],
  },
  {
    proves: 'a repeated query parameter is joined',
    route: 'GET /v1/templates?client_id=1&client_id=2',
    needsToken: true,
    expected: [{ status: 400, message: 'invalid client_id: 1,2' }],
  },
  {
    // This 400 is the synchronization's; creating a template would miss the name first.
    proves: 'sync-from-platform wins over {did}',
    route: 'POST /v1/templates/sync-from-platform',
    headers: json,
    body: '{"client_id":"smoke"}',
    needsToken: true,
    expected: [{ status: 400, message: 'invalid client_id: smoke' }],
  },
];
