import fc from 'fast-check';
import { anySlot, command } from './command.ts';
import type { Model } from './model.ts';
import type { Service } from './service.ts';
import { type Slot, texts } from './setting.ts';
import { pause } from './upstream.ts';

/* The listing shows changes at the platform outside the service after the next synchronization, and not before. */

type Happening =
  | { readonly what: 'appears'; readonly text: string }
  | { readonly what: 'disappears' }
  | { readonly what: 'is paused' }
  | { readonly what: 'gets status'; readonly status: string }
  | { readonly what: 'gets quality'; readonly quality: string }
  | { readonly what: 'gets text'; readonly text: string };

const anyText = fc.constantFrom(...texts);
const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ what: fc.constant('appears' as const), text: anyText }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('disappears' as const) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('is paused' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('gets status' as const),
      status: fc.constantFrom('APPROVED', 'APPROVED', 'REJECTED', 'DISABLED', 'PENDING_DELETION', 'A_NEW_STATUS'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('gets quality' as const), quality: fc.constantFrom('GREEN', 'RED') }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('gets text' as const), text: anyText }) },
);

interface Given {
  readonly slot: Slot;
  readonly happening: Happening;
}

async function happen(model: Model, service: Service, { slot, happening }: Given): Promise<void> {
  const template = model.upstream.at(slot);
  const { control } = service.platform;
  if (happening.what === 'appears') {
    if (template === undefined) await appear(model, service, slot, happening.text);
    return;
  }
  if (template === undefined) return;
  const path = `templates/${template.id}`;
  switch (happening.what) {
    case 'disappears':
      await control('DELETE', path);
      for (const [key, each] of model.upstream.templates) if (each === template) model.upstream.templates.delete(key);
      break;
    case 'is paused':
      if (template.status !== 'APPROVED') break;
      await control('POST', `${path}/pause`);
      pause(template, model.nowMs);
      break;
    case 'gets status':
      await control('POST', path, { status: happening.status });
      if (template.status !== happening.status) template.due = undefined;
      template.status = happening.status;
      break;
    case 'gets quality':
      await control('POST', path, { quality_score: { score: happening.quality } });
      template.quality = happening.quality;
      break;
    case 'gets text':
      await control('POST', path, { components: bodyOf(happening.text) });
      template.text = happening.text;
      break;
  }
}

/** Another user of the WABA makes a template outside the service. */
export async function appear(model: Model, service: Service, slot: Slot, text: string): Promise<void> {
  const { wabaId, name, language } = slot;
  const fields = { name, language, category: 'UTILITY', components: bodyOf(text) };
  const { ids } = await service.platform.control('POST', 'templates', { waba_id: wabaId, templates: [fields] });
  model.upstream.appear(slot, ids[0], text);
}

const bodyOf = (text: string) => [{ type: 'BODY', text }];

const hourMs = 3_600_000;
/** A time may be longer than a review, a pause, the time between two edits, and the lock of a name. */
const anyTime = fc.constantFrom(61_000, 61_000, 4 * hourMs, 25 * hourMs, 31 * 24 * hourMs);

export const upstreamCommands = {
  happen: command('at the platform', fc.record({ slot: anySlot, happening: anyHappening }), happen),
  letPass: command('time passes', fc.record({ ms: anyTime }), async (model, service, { ms }) => {
    model.letPass(ms);
    service.platform.clock.nowMs = model.nowMs;
  }),
};
