import { graphError } from '../errors.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { World } from '../state.ts';
import type { Template } from './template.ts';

const daySeconds = 24 * 3_600;
const windows = [7, 30, 60, 90];

/**
 * Answers `GET /{template_id}/compare` (platform reference, 2.8): sends in a time window, and how many recipients block
 * the business. The platform needs 1,000 sends of each; the simulator any number.
 */
export function compareTemplates(world: World, template: Template, { query }: PlatformRequest): Reply {
  const others = (query.get('template_ids') ?? '').match(/\d+/g) ?? [];
  if (others.length === 0) throw graphError(100, '(#100) The parameter template_ids is required.');
  const [startSeconds, endSeconds] = ['start', 'end'].map((name) => secondsOf(query, name)) as [number, number];
  if (!windows.some((days) => endSeconds - startSeconds === days * daySeconds)) {
    throw graphError(100, `(#100) Param end must be ${windows.join(', ')} days after start.`);
  }
  const compared = [template, ...others.map((id) => otherOf(world, template, id))].map(({ id, fields }) => {
    const sent = world.messages.ofTemplate(fields.name).filter(({ content, accepted: { acceptedMs } }) => {
      const isIn = acceptedMs >= startSeconds * 1_000 && acceptedMs < endSeconds * 1_000;
      return isIn && content.kind === 'template' && content.template.id === id;
    });
    return { id, sends: sent.length, blocks: sent.filter(({ message }) => world.blocked.has(message.to)).length };
  });
  const byRate = compared.toSorted((one, other) => rateOf(one) - rateOf(other));
  return json({
    data: [
      { metric: 'BLOCK_RATE', type: 'RELATIVE', order_by_relative_metric: byRate.map(({ id }) => id) },
      {
        metric: 'MESSAGE_SENDS',
        type: 'NUMBER_VALUES',
        number_values: compared.map(({ id, sends }) => ({ key: id, value: sends })),
      },
      {
        metric: 'TOP_BLOCK_REASON',
        type: 'STRING_VALUES',
        string_values: compared
          .filter(({ blocks }) => blocks > 0)
          .map(({ id }) => ({ key: id, value: 'NO_REASON_GIVEN' })),
      },
    ],
  });
}

function rateOf({ sends, blocks }: { readonly sends: number; readonly blocks: number }): number {
  return sends === 0 ? 0 : blocks / sends;
}

function otherOf(world: World, { wabaId }: Template, id: string): Template {
  const other = world.templates.get(id);
  if (other?.wabaId === wabaId) return other;
  throw graphError(100, `(#100) Param template_ids: ${id} is no template of the same business account.`);
}

function secondsOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (/^\d{1,11}(\.\d+)?$/.test(text)) return Math.floor(Number(text));
  throw graphError(
    100,
    text === '' ? `(#100) The parameter ${name} is required.` : `(#100) Param ${name} must be unix seconds.`,
  );
}
