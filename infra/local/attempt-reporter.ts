import type { FunctionLogLine } from './instance.ts';

/**
 * Sends the log lines about webhook attempts to the console, without waiting: the service also runs without the
 * console.
 */
export function attemptReporter(platformUrl: string): (line: FunctionLogLine) => void {
  return ({ functionName, text }) => {
    if (functionName !== 'events-deliver' || !text.startsWith('{"event":"webhook.')) return;
    fetch(`${platformUrl}/_control/events`, { method: 'POST', body: text }).catch(() => undefined);
  };
}
