import type { FunctionLogLine } from './instance.ts';

/**
 * Sends the log lines about webhook attempts to the console. It does not wait: without the console the service goes on,
 * and the log has the same lines.
 */
export function attemptTeller(platformUrl: string): (line: FunctionLogLine) => void {
  return ({ functionName, text }) => {
    if (functionName !== 'events-deliver' || !text.startsWith('{"event":"webhook.')) return;
    fetch(`${platformUrl}/_control/events`, { method: 'POST', body: text }).catch(() => undefined);
  };
}
