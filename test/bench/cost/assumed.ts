import { functions } from '../../../infra/functions.ts';

/*
 * What cannot be measured on one machine without AWS, and is assumed: how long others take to answer, which is billed as time
 * that a function waits, and what AWS itself writes into the logs.
 */

/** Milliseconds for an answer of a table, of a queue, of the platform, and of a client's receiver. */
export const storeMs = 5;
export const queueMs = 10;
export const platformMs = 200;
export const receiverMs = 100;

/**
 * Processor time of the worker, as `npm run bench -- worker` finds it: for each run, for each message of it, and for each small
 * request beside its messages, which is a job of its own.
 */
export const workerProcessorMs = { ofRun: 11, ofMessage: 1, ofSmallRequest: 4.5 } as const;

/** START, END and REPORT of one invocation, which Lambda writes. */
export const invocationLogBytes = 300;
/** The line of the access log. */
export const accessLogBytes = 400;
/** Of the authorizer, which checks a signature; the gateway remembers its answer for a token for a minute. */
export const authorizerProcessorMs = 2;
export const authorizedForMs = 60_000;

export function memoryOf(name: keyof typeof functions & string): number {
  const shape = functions[name];
  if (shape === undefined) throw new Error(`there is no function ${name}`);
  return shape.memoryMb;
}

/**
 * Polls a minute of a queue in which nothing is: Lambda keeps five pollers for a standard queue, whose requests wait for 20 s.
 * They are AWS's, not the deployment's; whether a window gathers batches changes nothing.
 */
export const emptyPollsPerMinute = 15;

/** What is left of a log once CloudWatch has compressed it, which is what keeping it is billed by. */
export const compressedLog = 0.15;
/** What leaves for the platform with a message, in bytes: request, its headers, and its part of a connection; and with an event. */
export const sentBytesOfMessage = 1_600;
export const sentBytesOfEvent = 1_400;
/** Days for which what is written of a message stays in the tables. */
export const keptDays = 30;
/** DynamoDB adds so much to each item that it bills the room of. */
export const itemOverheadBytes = 100;
/** A service asks KMS for a data key so often at most, for each function that uses it. */
export const dataKeyMinutes = 5;
