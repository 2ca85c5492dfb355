import * as v from 'valibot';
import { type EventSink, type ServiceEvent, ServiceEventSchema } from '../../lib/webhooks/event.ts';

/** The sink in memory accepts only valid events; it fails while `broken`. */
export class MemoryEvents implements EventSink {
  readonly sent: ServiceEvent[] = [];
  broken = false;

  async send(events: readonly ServiceEvent[]): Promise<void> {
    if (this.broken) throw new Error('the event queue takes nothing');
    this.sent.push(...events.map((event) => v.parse(ServiceEventSchema, event)));
  }
}
