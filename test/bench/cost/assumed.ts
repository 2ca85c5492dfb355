import { functions } from '../../../infra/functions.ts';

/*
 * These values cannot be measured without AWS, so they are assumed: how long others take to answer, which is billed as
 * time that a function waits, and what AWS itself writes into the logs.
 */

/** A table, a queue, the platform and a client's receiver answer after so long. */
export const storeMs = 5;
export const queueMs = 10;
export const platformMs = 200;
export const receiverMs = 100;

/** `npm run bench -- worker` finds the processor times of a sender, and of the worker of small requests. */
export const senderProcessorMs = { ofRun: 22, ofMessage: 0.85 } as const;
export const smallRequestProcessorMs = { ofRun: 5, ofMessage: 3.3 } as const;

/** Lambda writes START, END and REPORT for each invocation. */
export const invocationLogBytes = 300;
export const accessLogBytes = 400;
/** The authorizer checks a signature; the gateway caches its answer for a token for a minute. */
export const authorizerProcessorMs = 2;
export const authorizedForMs = 60_000;

export function memoryOf(name: keyof typeof functions & string): number {
  const shape = functions[name];
  if (shape === undefined) throw new Error(`there is no function ${name}`);
  return shape.memoryMb;
}

/**
 * Lambda keeps five pollers for a standard queue, whose requests wait for 20 s. AWS decides this, not the deployment; a
 * batching window changes nothing.
 */
export const emptyPollsPerMinute = 15;

/** CloudWatch compresses a log, and bills what is left for keeping it. */
export const compressedLog = 0.15;
/** A message and an event leave with so much: request, headers, and the request's part of a connection. */
export const sentBytesOfMessage = 1_600;
export const sentBytesOfEvent = 1_400;
/** Items of a message stay in the tables for so long. */
export const keptDays = 30;
/** DynamoDB bills so much for each item beside its content. */
export const itemOverheadBytes = 100;
/** A service caches the data key of KMS for so long, for each function that uses it. */
export const dataKeyMinutes = 5;
