import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import * as v from 'valibot';
import { closestName } from '../lib/http/closest-name.ts';
import { isLoopbackName } from './loopback.ts';
import { stageDescription, stagePattern } from './names.ts';
import { platformDefaults } from './platform-defaults.ts';
import { isScheduleExpression } from './schedule-expression.ts';

/** Values are text from `-c name=value`, or typed from JSON. */
const wholeNumber = v.pipe(
  v.union([v.number(), v.string()]),
  v.check((value) => /^\d{1,6}$/.test(String(value))),
  v.transform(Number),
);

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

const retentionChoices: unknown[] = Object.values(RetentionDays);

const settingRules = {
  stage: [v.pipe(v.string(), v.regex(stagePattern)), stageDescription],
  platformBaseUrl: [v.pipe(v.string(), v.check(isPlatformOrigin)), 'an https origin without path (http on 127.0.0.1)'],
  platformVersion: [v.pipe(v.string(), v.regex(/^v\d{1,3}\.\d$/)), 'a version such as v25.0'],
  /** The certificate of the public address is in the stacks' region; the Route 53 zone gets its record. */
  domainName: [v.optional(v.pipe(v.string(), v.maxLength(190), v.regex(hostPattern))), 'a host name in lower case'],
  certificateArn: [
    v.optional(v.pipe(v.string(), v.regex(/^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/))),
    'the ARN of a certificate of ACM',
  ],
  hostedZoneId: [v.optional(v.pipe(v.string(), v.regex(/^Z[0-9A-Z]{1,31}$/))), 'the id of a hosted zone of Route 53'],
  /**
   * CloudFront and a web ACL stand in front of the API, which then accepts only what came through them (infra/edge.ts).
   */
  edge: [
    v.pipe(
      v.union([v.boolean(), v.picklist(['true', 'false'])]),
      v.transform((value) => String(value) === 'true'),
    ),
    'true or false',
  ],
  edgeCertificateArn: [
    v.optional(v.pipe(v.string(), v.regex(/^arn:[\w-]+:acm:us-east-1:\d{12}:certificate\/[\w-]+$/))),
    'the ARN of a certificate of ACM in us-east-1',
  ],
  edgeKeyVersion: [v.pipe(wholeNumber, v.minValue(1)), 'a whole number from 1'],
  edgeRatePerMinute: [v.pipe(wholeNumber, v.minValue(10)), 'a whole number from 10'],
  edgeLoginRatePerMinute: [v.pipe(wholeNumber, v.minValue(10)), 'a whole number from 10'],
  /** The platform posts less than this from one address (infra/README.md). */
  edgeWebhookRatePerMinute: [v.pipe(wholeNumber, v.minValue(10)), 'a whole number from 10'],
  /** Pages of these origins may call the API from a browser (D52); none may by default. */
  corsOrigins: [
    v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => text.split(',').map((origin) => origin.trim())),
        v.check((origins) => new Set(origins).size === origins.length && areOrigins(origins)),
      ),
    ),
    'origins without path, apart by commas and none twice, such as https://app.example.com (http on this machine), or * alone',
  ],
  /** Redirects need the URL of `GET /r/{code}` without the code (D19). */
  redirectBaseUrl: [
    v.optional(v.pipe(v.string(), v.maxLength(200), v.check(isRedirectBase))),
    'an https URL of at most 200 characters without query and without a slash at its end (http on 127.0.0.1)',
  ],
  /** One synchronization runs at a time for the whole deployment, or one per client (D22). */
  syncLockScope: [v.picklist(['deployment', 'client']), '"deployment" or "client"'],
  /** The schedule synchronizes all clients; there is none by default. Cron times are UTC. */
  syncSchedule: [
    v.optional(v.pipe(v.string(), v.check(isScheduleExpression))),
    'an expression such as rate(6 hours) or cron(0 3 * * ? *), with ? for exactly one of day of month and day of week',
  ],
  /** The shipped rates hold without a source of the rate file (D32). */
  rateSourceUrl: [v.optional(v.pipe(v.string(), v.check(isHttpsUrl))), 'an https URL on port 443'],
  /** Each worker sends from one number. With fewer workers, SQS's fair queues do not recognise a noisy client (R23). */
  dispatchMaximumConcurrency: [
    v.pipe(wholeNumber, v.minValue(100), v.maxValue(1000)),
    'a whole number from 100 to 1000',
  ],
  /** These workers send small requests, mainly one-time codes (D44). */
  urgentMaximumConcurrency: [v.pipe(wholeNumber, v.minValue(2), v.maxValue(1000)), 'a whole number from 2 to 1000'],
  /** Everything waits for these two functions, so they reserve concurrency (infra/concurrency.ts). */
  authorizerReservedConcurrency: [v.pipe(wholeNumber, v.minValue(1)), 'a whole number from 1'],
  dispatchReservedConcurrency: [v.pipe(wholeNumber, v.minValue(100)), 'a whole number from 100'],
  /** Strangers can call login and the platform's webhook, so each takes no more than its share. */
  loginReservedConcurrency: [v.pipe(wholeNumber, v.minValue(1)), 'a whole number from 1'],
  webhookReservedConcurrency: [v.pipe(wholeNumber, v.minValue(1)), 'a whole number from 1'],
  /** The account's quota in its region includes all of the above. */
  accountConcurrency: [v.pipe(wholeNumber, v.minValue(1)), 'a whole number from 1'],
  /** Requests of all callers count together; a route with its own limit counts apart. */
  stageRatePerSecond: [v.pipe(wholeNumber, v.minValue(1), v.maxValue(10_000)), 'a whole number from 1 to 10000'],
  stageBurst: [v.pipe(wholeNumber, v.minValue(1), v.maxValue(5_000)), 'a whole number from 1 to 5000'],
  /** All callers of `POST /login` share this limit; login itself counts by user and address (R38). */
  loginRatePerSecond: [v.pipe(wholeNumber, v.minValue(1), v.maxValue(1_000)), 'a whole number from 1 to 1000'],
  loginBurst: [v.pipe(wholeNumber, v.minValue(1), v.maxValue(2_000)), 'a whole number from 1 to 2000'],
  /** The limit counts requests of one client behind the authorizer (D54). */
  clientRatePerMinute: [wholeNumber, 'a whole number from 0 (no limit) to 999999'],
  logRetentionDays: [
    v.pipe(
      wholeNumber,
      v.check((days) => retentionChoices.includes(days)),
    ),
    'a retention that CloudWatch Logs offers, such as 30, 90 or 365',
  ],
  /** The key encrypts tables, secrets, queues and logs; AWS's own keys do by default. */
  encryptionKeyArn: [
    v.optional(v.pipe(v.string(), v.regex(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/))),
    'the ARN of a key of KMS (an alias is none)',
  ],
  /** `page` wakes a person; `ticket` is read on the next working day. */
  pageTopicArn: [v.optional(v.pipe(v.string(), v.regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/))), 'an SNS topic ARN'],
  ticketTopicArn: [
    v.optional(v.pipe(v.string(), v.regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/))),
    'an SNS topic ARN',
  ],
  /** The edge's alarms have topics of their own, in the edge's region. */
  edgePageTopicArn: [
    v.optional(v.pipe(v.string(), v.regex(/^arn:[\w-]+:sns:us-east-1:\d{12}:[\w-]+$/))),
    'the ARN of an SNS topic in us-east-1',
  ],
  edgeTicketTopicArn: [
    v.optional(v.pipe(v.string(), v.regex(/^arn:[\w-]+:sns:us-east-1:\d{12}:[\w-]+$/))),
    'the ARN of an SNS topic in us-east-1',
  ],
  /** New versions of the most important functions first get a tenth of the calls. */
  canary: [
    v.pipe(v.union([v.boolean(), v.string()]), v.transform(String), v.picklist(['true', 'false'])),
    'true or false',
  ],
  /** These stacks refuse to be deleted. The tables follow the stateful stack. */
  protected: [
    v.pipe(v.union([v.boolean(), v.string()]), v.transform(String), v.picklist(['true', 'stateful', 'false'])),
    'true, false, or stateful for the stateful stack alone',
  ],
  tokenIssuer: [v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,200}$/)), '1 to 200 visible ASCII characters'],
  tokenAudience: [v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,200}$/)), '1 to 200 visible ASCII characters'],
} as const satisfies Record<string, readonly [v.GenericSchema, string]>;

type SettingName = keyof typeof settingRules;
export type Settings = { readonly [Name in SettingName]: v.InferOutput<(typeof settingRules)[Name][0]> };

/**
 * Reads the settings from the CDK context (`-c name=value`, cdk.json, CDK_CONTEXT_JSON) and fills in defaults. Throws
 * one sentence that names the bad value, its rule and what came, or the unknown name.
 */
export function settingsFrom(node: Node): Settings {
  refuseUnknown(Object.keys(node.getAllContext()));
  const stage = setting(node, 'stage', 'dev');
  const domainName = setting(node, 'domainName', undefined);
  const dispatchMaximumConcurrency = setting(node, 'dispatchMaximumConcurrency', 200);
  return {
    stage,
    platformBaseUrl: setting(node, 'platformBaseUrl', platformDefaults.baseUrl),
    platformVersion: setting(node, 'platformVersion', platformDefaults.version),
    domainName,
    certificateArn: setting(node, 'certificateArn', undefined),
    hostedZoneId: setting(node, 'hostedZoneId', undefined),
    edge: setting(node, 'edge', false),
    edgeCertificateArn: setting(node, 'edgeCertificateArn', undefined),
    edgeKeyVersion: setting(node, 'edgeKeyVersion', 1),
    edgeRatePerMinute: setting(node, 'edgeRatePerMinute', 6_000),
    edgeLoginRatePerMinute: setting(node, 'edgeLoginRatePerMinute', 60),
    edgeWebhookRatePerMinute: setting(node, 'edgeWebhookRatePerMinute', 30_000),
    corsOrigins: setting(node, 'corsOrigins', undefined),
    redirectBaseUrl: setting(node, 'redirectBaseUrl', domainName && `https://${domainName}/r`),
    syncLockScope: setting(node, 'syncLockScope', 'deployment'),
    syncSchedule: setting(node, 'syncSchedule', undefined),
    rateSourceUrl: setting(node, 'rateSourceUrl', undefined),
    dispatchMaximumConcurrency,
    urgentMaximumConcurrency: setting(node, 'urgentMaximumConcurrency', 100),
    authorizerReservedConcurrency: setting(node, 'authorizerReservedConcurrency', 100),
    dispatchReservedConcurrency: setting(node, 'dispatchReservedConcurrency', dispatchMaximumConcurrency),
    loginReservedConcurrency: setting(node, 'loginReservedConcurrency', 60),
    webhookReservedConcurrency: setting(node, 'webhookReservedConcurrency', 100),
    accountConcurrency: setting(node, 'accountConcurrency', 1_000),
    stageRatePerSecond: setting(node, 'stageRatePerSecond', 500),
    stageBurst: setting(node, 'stageBurst', 1_000),
    loginRatePerSecond: setting(node, 'loginRatePerSecond', 100),
    loginBurst: setting(node, 'loginBurst', 200),
    clientRatePerMinute: setting(node, 'clientRatePerMinute', 3_000),
    logRetentionDays: setting(node, 'logRetentionDays', 90),
    encryptionKeyArn: setting(node, 'encryptionKeyArn', undefined),
    pageTopicArn: setting(node, 'pageTopicArn', undefined),
    ticketTopicArn: setting(node, 'ticketTopicArn', undefined),
    edgePageTopicArn: setting(node, 'edgePageTopicArn', undefined),
    edgeTicketTopicArn: setting(node, 'edgeTicketTopicArn', undefined),
    canary: setting(node, 'canary', 'true'),
    protected: setting(node, 'protected', 'true'),
    tokenIssuer: setting(node, 'tokenIssuer', `urn:template-messaging:${stage}`),
    tokenAudience: setting(node, 'tokenAudience', `urn:template-messaging:${stage}:api`),
  };
}

/** Refuses an alarm topic of another region, which CloudWatch would refuse in the middle of a deployment. */
export function checkAlarmTopics(settings: Settings, region: string | undefined): void {
  for (const name of ['pageTopicArn', 'ticketTopicArn'] as const) {
    const topicRegion = settings[name]?.split(':')[3];
    if (topicRegion === undefined || region === undefined || topicRegion === region) continue;
    throw new Error(
      `the context value ${name} names a topic in ${topicRegion}, and the stacks go to ${region}: alarms reach topics of their own region only`,
    );
  }
}

/** Refuses a key of another region, which CloudFormation would refuse in the middle of a deployment. */
export function checkEncryptionKey({ encryptionKeyArn }: Settings, region: string | undefined): void {
  const keyRegion = encryptionKeyArn?.split(':')[3];
  if (keyRegion === undefined || region === undefined || keyRegion === region) return;
  throw new Error(
    `the context value encryptionKeyArn names a key in ${keyRegion}, and the stacks go to ${region}: tables, queues and logs take keys of their own region only`,
  );
}

function setting<Name extends SettingName>(node: Node, name: Name, byDefault: Settings[Name]): Settings[Name] {
  const [schema, description] = settingRules[name];
  const value: unknown = node.tryGetContext(name) ?? byDefault;
  const result = v.safeParse(schema as v.GenericSchema, value);
  if (result.success) return result.output as Settings[Name];
  throw new Error(`the context value ${name} must be ${description}, received ${JSON.stringify(value)}`);
}

/** Names of the CDK's libraries contain one of these (`@aws-cdk/...`, `availability-zones:...`); ours never do. */
const ofLibraries = /[:/]/;
/** These names of the CDK have no such character. */
const ofCommandLine = ['cli-telemetry', 'acknowledged-issue-numbers', 'cdk-migrate', 'tree-metadata'];

function refuseUnknown(names: readonly string[]): void {
  const known = Object.keys(settingRules);
  const unknown = names.find((name) => ![...known, ...ofCommandLine].includes(name) && !ofLibraries.test(name));
  if (unknown === undefined) return;
  const meant = closestName(unknown, known);
  const hint = meant === undefined ? `the names are ${known.join(', ')}` : `did you mean ${meant}?`;
  throw new Error(`there is no context value ${unknown}: ${hint}`);
}

function isPlatformOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.origin === text && isSafeTransport(url);
}

/**
 * The origins are spelled as browsers do. The API uses no cookie or other browser credential, so `*` exposes nothing.
 */
function areOrigins(origins: readonly string[]): boolean {
  if (origins.length === 1 && origins[0] === '*') return true;
  return origins.every((text) => {
    const url = URL.parse(text);
    const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackName(url.hostname));
    return safe && url.origin === text && !url.hostname.includes('*');
  });
}

/** The base is spelled as the URL parser spells it, so that the platform shows what browsers request. */
function isRedirectBase(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !isSafeTransport(url) || text.endsWith('/')) return false;
  return `${url.origin}${url.pathname}`.replace(/\/$/, '') === text;
}

function isSafeTransport({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1');
}

function isHttpsUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
}
