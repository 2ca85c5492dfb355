import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

export interface Account {
  readonly account: string;
  readonly region: string;
}

/** Returns the account and region of this process's credentials; the call needs no permission. */
export async function callersAccount(
  given: { readonly profile?: string; readonly region?: string } = {},
): Promise<Account> {
  const client = new STSClient({
    ...given,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  try {
    const region = await client.config.region();
    const { Account: account = 'unknown' } = await client.send(new GetCallerIdentityCommand({}));
    return { account, region };
  } finally {
    client.destroy();
  }
}

export async function callersArn(): Promise<string> {
  const client = new STSClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000 },
  });
  try {
    return (await client.send(new GetCallerIdentityCommand({}))).Arn ?? 'unknown';
  } finally {
    client.destroy();
  }
}
