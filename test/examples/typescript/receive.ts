// Verifies one delivery: `node dist/receive.js SECRET` reads {"headers", "body"} as JSON from stdin.
import { json } from 'node:stream/consumers';
import { type ServiceEvent, verifiedEvent } from './webhook.ts';

function subjectOf({ type, data }: ServiceEvent): string {
  switch (type) {
    case 'template.created':
    case 'template.deleted':
      return data.name;
    case 'template.status_changed':
      return `${data.name} ${data.previous_status} -> ${data.status}`;
    case 'sync.completed':
      return data.sync_id;
    case 'account.restricted':
    case 'account.restored':
      return `${data.waba_id} ${data.platform_word}`;
    case 'recipient.opted_out':
    case 'recipient.opted_in':
      return `${data.recipient} ${data.source}`;
    case 'budget.reached':
      return `${data.month} ${data.percent}%`;
    case 'webhook.failing':
      return data.since;
    case 'message.replied':
      return `${data.message_id ?? data.did} ${data.text ?? data.by}`;
    default:
      return data.dispatch_id;
  }
}

const { headers, body } = (await json(process.stdin)) as { headers: Record<string, string>; body: string };
try {
  const event = verifiedEvent(process.argv[2] ?? '', headers, body);
  console.log(event.type, subjectOf(event));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
