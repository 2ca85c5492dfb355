const certificate = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/0a1b-2c3d`;
const domain = { domainName: 'api.example.com', certificateArn: certificate('eu-west-1') };
const zone = { hostedZoneId: 'Z0123456789ABC' };

export const edgeCertificateArn = certificate('us-east-1');
export const encryptionKeyArn = 'arn:aws:kms:eu-west-1:123456789012:key/0a1b-2c3d';
export const pageTopicArn = 'arn:aws:sns:eu-west-1:123456789012:page';
export const ticketTopicArn = 'arn:aws:sns:eu-west-1:123456789012:ticket';
export const edgePageTopicArn = 'arn:aws:sns:us-east-1:123456789012:edge-page';
export const edgeTicketTopicArn = 'arn:aws:sns:us-east-1:123456789012:edge-ticket';

/** Tests of templates use these context values. Each choice is synthesized once in a run (infra-build.ts). */
export const settingChoices = {
  plain: { stage: 'test' },
  /** The choice has all parts that settings can add. */
  whole: {
    ...{
      stage: 'test',
      ...domain,
      ...zone,
      edge: true,
      edgeCertificateArn,
      pageTopicArn,
      ticketTopicArn,
      edgePageTopicArn,
      edgeTicketTopicArn,
    },
    redirectBaseUrl: 'https://go.example.com',
    rateSourceUrl: 'https://rates.example.com/usd.json',
    syncSchedule: 'cron(0/30 8-17 ? * MON-FRI *)',
    corsOrigins: 'https://app.example.com, http://localhost:5173',
  },
  /** The public address has no edge. */
  address: { stage: 'test', ...domain, ...zone, edgeCertificateArn, protected: 'true' },
  /** The edge is for a name of another name server, in stacks that may be deleted. */
  edge: { stage: 'test', ...domain, edge: true, edgeCertificateArn, pageTopicArn, ticketTopicArn, protected: 'false' },
  /** The values differ from the defaults, most of them as text, as the command line passes them. */
  chosen: {
    ...{
      stage: 'test',
      ...domain,
      ...zone,
      edge: 'true',
      edgeCertificateArn,
      pageTopicArn: edgePageTopicArn,
      ticketTopicArn: edgeTicketTopicArn,
    },
    ...{
      edgeKeyVersion: '3',
      edgeRatePerMinute: 20_000,
      edgeLoginRatePerMinute: '120',
      edgeWebhookRatePerMinute: 90_000,
    },
    ...{ stageRatePerSecond: '1000', stageBurst: 2_000, loginRatePerSecond: '40', loginBurst: 80 },
    ...{ dispatchMaximumConcurrency: '120', accountConcurrency: 2_000, clientRatePerMinute: '0' },
    encryptionKeyArn,
    syncSchedule: 'rate(6 hours)',
    platformBaseUrl: 'http://127.0.0.1:3001',
    platformVersion: 'v26.0',
    syncLockScope: 'client',
    logRetentionDays: '365',
    tokenIssuer: 'https://issuer.example',
    canary: 'false',
    protected: 'stateful',
  },
} as const satisfies Record<string, Readonly<Record<string, unknown>>>;

export type SettingChoice = keyof typeof settingChoices;
