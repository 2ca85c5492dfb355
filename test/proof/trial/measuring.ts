import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { readAssembly } from '../../../infra/local/cdk-assembly.ts';
import type { FunctionLogLine } from '../../../infra/local/instance.ts';
import { resourceName } from '../../../infra/names.ts';
import type { LocalStack } from '../../../infra/operate/local-stacks.ts';
import { queueClient } from '../../../lib/aws/sqs.ts';
import {
  alarmNamed,
  type Datum,
  type MetricAlarm,
  measuredBy,
  type Standing,
  standingOf,
} from '../../support/alarm-states.ts';

/** A minute of CloudWatch is so short in a game day, because alarms look at five minutes to an hour. */
export const minuteMs = 4_000;

export type LoggedEvent = Readonly<Record<string, unknown>> & { readonly event: string };

/** The line has the embedded metric format, with its properties. */
export type MetricLine = Readonly<Record<string, unknown>>;

/**
 * Knows what CloudWatch would know of a local stack: metrics in the functions' logs, and the visible messages of each
 * queue, once a minute. It has no metrics of Lambda, tables and gateway, and no age of messages.
 */
export class Measuring {
  readonly #data: Datum[] = [];
  readonly #events: LoggedEvent[] = [];
  readonly #metricLines: MetricLine[] = [];

  hear({ text }: Pick<FunctionLogLine, 'text'>): void {
    const measured = measuredBy(text);
    this.#data.push(...measured);
    if (measured.length > 0) this.#metricLines.push(JSON.parse(text));
    if (measured.length > 0 || !text.startsWith('{')) return;
    try {
      const line: LoggedEvent = JSON.parse(text);
      if (typeof line.event === 'string') this.#events.push(line);
    } catch {
      // The line is cut off, or another program's.
    }
  }

  /** Looks at the queues once a minute, until the signal ends it. */
  async watchQueues(stack: Omit<LocalStack, 'pid'>, signal: AbortSignal, pause: () => Promise<unknown>): Promise<void> {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const client = queueClient({ region: stack.region, credentials, endpoint: stack.sqsEndpoint });
    const metric = 'ApproximateNumberOfMessagesVisible';
    try {
      while (!signal.aborted) {
        for (const [name, QueueUrl] of Object.entries(stack.queueUrls)) {
          const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] });
          // A look may fail on a busy machine: that minute has no value then, and the next one has.
          const { Attributes } = await client.send(asked).catch(() => ({ Attributes: undefined }));
          if (Attributes === undefined) continue;
          const value = Number(Attributes?.ApproximateNumberOfMessages);
          const dimensions = `QueueName=${name}`;
          this.#data.push({ namespace: 'AWS/SQS', metric, dimensions, atMs: Date.now(), value });
        }
        await pause();
      }
    } finally {
      client.destroy();
    }
  }

  eventsNamed(event: string): readonly LoggedEvent[] {
    return this.#events.filter((line) => line.event === event);
  }

  /** Returns the lines that count the metric, as an operator finds them: `filter METRIC > 0`. */
  linesCounting(metric: string): readonly MetricLine[] {
    return this.#metricLines.filter((line) => Number(line[metric]) > 0);
  }

  standing(alarm: MetricAlarm): Standing {
    return standingOf(alarm, this.#data, { nowMs: Date.now(), secondMs: minuteMs / 60 });
  }
}

/** Returns the alarm of that purpose in the templates that a stack was started from. */
export function alarmOf(
  purpose: string,
  { outputDirectory, stage }: { readonly outputDirectory: string; readonly stage: string },
): MetricAlarm {
  return alarmNamed(resourceName(stage, purpose), readAssembly(outputDirectory).stacks);
}
