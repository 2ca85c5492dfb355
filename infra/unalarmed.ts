/**
 * This file says what has no alarm of its own, and why. A test walks the synthesized templates and the code's holds:
 * each queue, function, table and hold has an alarm or a line here, never both.
 */

/** A function fails, has no concurrency left, or is slow. */
export type FunctionTrouble = 'Errors' | 'Throttles' | 'Duration';
type Reasons = Readonly<Partial<Record<FunctionTrouble, string>>>;

export const unalarmedEndpoints: Readonly<Record<FunctionTrouble, string>> = {
  Errors:
    'The caller gets an answer of 500 or above: api-5xx, api-5xx-share and, of a send, acceptance-burn-fast count it.',
  Throttles: 'The caller gets an answer of 500 or above, as of an error; account-concurrency rings before.',
  Duration: 'api-latency looks at what callers wait for; a run that takes too long is an answer of 502.',
};

export const unalarmedFunctions: Readonly<Record<string, Reasons>> = {
  authorizer: {
    Errors: 'It refuses a bad token by an error. What is no bad token is authorizer-failures, and an answer of 500.',
    Duration: 'It has five seconds: what is slower is an answer of 500, and callers wait for it (api-latency).',
  },
  'messages-sweep': {
    Throttles: 'Lambda tries such a call again for hours, and the next one comes in a minute.',
    Duration: 'A run that takes too long is an error (sweep-errors).',
  },
  'pricing-refresh': {
    Throttles: 'Lambda tries such a call again for hours, and the next one comes in twelve.',
    Duration: 'A run that takes too long is an error (pricing-refresh-errors).',
  },
};

export const unalarmedDeadLetterAge = 'Its first message rings, however old it is: <queue>-dead-letters.';

/** The keys are kinds of holds (lib/messages/holds/scope.ts); platform-down rings for the platform as a whole. */
export const unalarmedHolds: Readonly<Record<string, string>> = {
  template:
    'The platform ends a pause by itself after hours, and the client of each dispatch is told by dispatch.parked: nothing is left for an operator.',
};

/**
 * The keys are purposes of schedules that may be disabled or gone; EventBridge rules have an alarm on the runs of their
 * function.
 */
export const unalarmedSchedules: Readonly<Record<string, string>> = {
  sync: "Its expression is the operator's, and may be due once in a month: no alarm looks back so far. The platform's hints and sends bring templates up to date as well; sync.walk_finished in the log tells when it last ran.",
};
