import type { ConcurrencyNeeds } from '../../concurrency.ts';
import type { RequestLimit } from '../../routes.ts';
import type { AccountConcurrency, Quota } from './account-limits.ts';
import type { Finding } from './findings.ts';

/** This file is pure: it compares the account's quotas with the stacks' needs; each finding says what to do. */

const good = (text: string): Finding => ({ state: 'good', text });
const bad = (text: string): Finding => ({ state: 'bad', text });

const ask = (service: string, code: string, value: number) =>
  `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${value}`;

/** AWS raises the quota "Concurrent executions" in hundreds. */
const lambdaQuotaCode = 'L-B99A9384';

/** `ours` is what the deployed stage's functions reserve already. */
export function concurrencyFinding(
  { total, unreserved }: AccountConcurrency,
  { needs, ours, told: stated }: { readonly needs: ConcurrencyNeeds; readonly ours: number; readonly told: number },
): Finding {
  const others = Math.max(total - unreserved - ours, 0);
  const need = `the stacks need ${needs.total}: ${needs.reserved} reserved, ${needs.workers} for workers, ${needs.endpoints} for endpoints`;
  const has = `Lambda concurrency: the account has ${total} in this region, of which ${others} are reserved by others; ${need}`;
  const desired = Math.ceil((needs.total + others) / 100) * 100;
  if (total - others < needs.total) return bad(`${has}; ${ask('lambda', lambdaQuotaCode, desired)}`);
  if (stated > total) {
    return bad(
      `${has}; accountConcurrency says ${stated}, so the alarm on it is deaf; deploy with -c accountConcurrency=${total}`,
    );
  }
  return good(has);
}

const gatewayCodes = { rate: 'L-8A5B8E43', burst: 'L-CDF5615A', routes: 'L-65B5C802' } as const;

/** The limits of the gateway's stage share one quota of the account, which wins over them. */
export function gatewayFindings(
  quotas: readonly Quota[],
  { limits, routes }: { readonly limits: readonly RequestLimit[]; readonly routes: number },
): Finding[] {
  const rate = limits.reduce((sum, { ratePerSecond }) => sum + ratePerSecond, 0);
  const burst = Math.max(...limits.map((limit) => limit.burst));
  return [
    quotaFinding(quotas, {
      code: gatewayCodes.rate,
      need: rate,
      what: 'requests a second, the limits of all routes together',
    }),
    quotaFinding(quotas, {
      code: gatewayCodes.burst,
      need: burst,
      what: 'requests at once, the largest burst of a route',
    }),
    quotaFinding(quotas, { code: gatewayCodes.routes, need: routes, what: 'routes of an API' }),
  ];
}

function quotaFinding(
  quotas: readonly Quota[],
  { code, need, what }: { readonly code: string; readonly need: number; readonly what: string },
): Finding {
  const quota = quotas.find((each) => each.code === code);
  if (quota === undefined) {
    return {
      state: 'skipped',
      text: `gateway quotas: the account tells none for ${what} (${code}); ${need} are needed`,
    };
  }
  const has = `gateway quotas: ${quota.value} ${what}; the stacks need ${need}`;
  if (quota.value >= need) return good(has);
  return bad(`${has}; ${ask('apigateway', code, need)}, or lower the limits (infra/README.md, Configuration)`);
}

/**
 * Standard queues have this quota; FIFO queues have another. AWS has used several names for it, and documents some
 * 120,000.
 */
const inFlight = /^(?!.*fifo).*in[ -]?flight/i;

/** `atWork` is the most messages that the workers of one queue may hold together. */
export function queueFinding(quotas: readonly Quota[], atWork: number): Finding {
  const quota = quotas.find(({ name }) => inFlight.test(name));
  if (quota === undefined) {
    const documented = 'AWS documents 120,000';
    return {
      state: 'skipped',
      text: `queue quotas: the account tells none for messages in flight; ${atWork} are needed, ${documented}`,
    };
  }
  const has = `queue quotas: ${quota.value} messages in flight of a queue; workers hold ${atWork} at most`;
  return quota.value >= atWork ? good(has) : bad(`${has}; ${ask('sqs', quota.code, atWork)}`);
}
