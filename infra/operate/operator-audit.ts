import { userInfo } from 'node:os';
import { ulid } from 'ulid';
import { type AppendEntry, auditWriter } from '../../lib/audit/audit-store.ts';
import type { Audited, AuditOutcome, OperatorAct } from '../../lib/audit/entry.ts';
import { callersArn } from './account.ts';
import { failureSentence } from './aws-failure.ts';
import { CommandError } from './command.ts';
import type { Target } from './target.ts';

/**
 * Runs an operator's command between two audit lines: `begun`, then `done` or `failed`. Throws `CommandError`, with
 * nothing done, when the first line cannot be written.
 */
export type OperatorAudit = <T>(act: OperatorAct, on: Audited, work: () => Promise<T>) => Promise<T>;

interface OperatorAuditPorts {
  readonly append: AppendEntry;
  readonly by: () => Promise<string>;
  readonly nowMs: () => number;
  readonly newId: () => string;
  /** Tells what the command's own lines do not. */
  readonly tell: (line: string) => void;
}

export function operatorAudit({ append, by, nowMs, newId, tell }: OperatorAuditPorts): OperatorAudit {
  return async (act, on, work) => {
    const run = newId();
    const who = await by();
    const note = (outcome: AuditOutcome, id: string) =>
      append({
        ...{ whose: 'OPERATOR', who, what: act, on, outcome, atMs: nowMs(), id },
        ...(id === run ? {} : { ends: run }),
      });
    await note('begun', run).catch((error: unknown) => {
      throw new CommandError(`Nothing was done: that it begins could not be noted. ${sentenceOf(error)}`, 1);
    });
    const end = (outcome: AuditOutcome) =>
      note(outcome, newId()).catch((error: unknown) =>
        tell(`${outcome}, but that it ended could not be noted in the audit: ${sentenceOf(error)}`),
      );
    try {
      const result = await work();
      await end('done');
      return result;
    } catch (error) {
      await end('failed');
      throw error;
    }
  };
}

function sentenceOf(error: unknown): string {
  return failureSentence(error) ?? String(error);
}

export function auditOf({ documentClient, tableName }: Target, stage: string | undefined): OperatorAudit {
  return operatorAudit({
    append: auditWriter(documentClient, tableName('audit')),
    by: () => operatorOf(stage),
    nowMs: Date.now,
    newId: () => ulid(),
    tell: console.error,
  });
}

/** Returns the operator's name in AWS or on this machine. */
export async function operatorOf(stage: string | undefined): Promise<string> {
  return stage === undefined ? userInfo().username : await callersArn();
}
