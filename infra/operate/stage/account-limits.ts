import * as v from 'valibot';
import { ReadRefused, type ReadSigned } from './signed-read.ts';

/** This file only reads: the limits of an account in its region, from Lambda and Service Quotas. */

export interface AccountConcurrency {
  /** All functions together share these "Concurrent executions". */
  readonly total: number;
  readonly unreserved: number;
}

const AccountSettingsSchema = v.object({
  AccountLimit: v.object({ ConcurrentExecutions: v.number(), UnreservedConcurrentExecutions: v.number() }),
});

/** Reads Lambda's account settings; needs `lambda:GetAccountSettings`. */
export async function accountConcurrency(read: ReadSigned): Promise<AccountConcurrency> {
  const { AccountLimit } = v.parse(
    AccountSettingsSchema,
    await read({ ...lambda, path: '/2016-08-19/account-settings/' }),
  );
  return { total: AccountLimit.ConcurrentExecutions, unreserved: AccountLimit.UnreservedConcurrentExecutions };
}

const lambda = { service: 'lambda', endpointVariable: 'AWS_ENDPOINT_URL_LAMBDA' } as const;

const FunctionConcurrencySchema = v.object({ ReservedConcurrentExecutions: v.optional(v.number(), 0) });

/**
 * Sums what these functions reserve now; a missing function counts as 0. Each costs one GetFunctionConcurrency; needs
 * `lambda:GetFunctionConcurrency`.
 */
export async function reservedNow(read: ReadSigned, functionNames: readonly string[]): Promise<number> {
  const each = functionNames.map(async (name) => {
    try {
      const answer = await read({ ...lambda, path: `/2019-09-30/functions/${name}/concurrency` });
      return v.parse(FunctionConcurrencySchema, answer).ReservedConcurrentExecutions;
    } catch (error) {
      if (error instanceof ReadRefused && error.name === 'ResourceNotFoundException') return 0;
      throw error;
    }
  });
  return (await Promise.all(each)).reduce((sum, reserved) => sum + reserved, 0);
}

export interface Quota {
  readonly code: string;
  readonly name: string;
  readonly value: number;
}

const QuotaPageSchema = v.object({
  Quotas: v.array(v.object({ QuotaCode: v.string(), QuotaName: v.string(), Value: v.number() })),
  NextToken: v.nullish(v.string()),
});

/**
 * Reads the quotas of a service in this account, the account's own before AWS's defaults. Needs
 * `servicequotas:ListServiceQuotas` and `servicequotas:ListAWSDefaultServiceQuotas`.
 */
export async function quotasOf(read: ReadSigned, serviceCode: 'apigateway' | 'sqs'): Promise<readonly Quota[]> {
  const quotas = new Map<string, Quota>();
  for (const operation of ['ListAWSDefaultServiceQuotas', 'ListServiceQuotas']) {
    for (let next: string | null | undefined = ''; next !== undefined && next !== null; ) {
      const page: v.InferOutput<typeof QuotaPageSchema> = v.parse(
        QuotaPageSchema,
        await read({
          service: 'servicequotas',
          endpointVariable: 'AWS_ENDPOINT_URL_SERVICE_QUOTAS',
          path: '/',
          json: {
            target: `ServiceQuotasV20190624.${operation}`,
            body: { ServiceCode: serviceCode, MaxResults: 100, ...(next === '' ? {} : { NextToken: next }) },
          },
        }),
      );
      for (const { QuotaCode: code, QuotaName: name, Value: value } of page.Quotas)
        quotas.set(code, { code, name, value });
      next = page.NextToken;
    }
  }
  return [...quotas.values()];
}
