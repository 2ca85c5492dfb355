import { type RefusedSend, refusedId, refusedKind } from '../refused-log.ts';
import type { World } from '../state.ts';
import { contextOf, dispatchOf } from './message-context.ts';

/** Returns a row of a refused send; the reason stands in the place of the preview. */
export function refusedRow(send: RefusedSend) {
  const { place, to, numberId, template, receivedMs, refusal } = send;
  return {
    ...{ place, id: refusedId(send), to, number: numberId },
    ...{ template: template.name, language: template.language, category: '' },
    preview: refusal.details || refusal.message,
    dispatch: dispatchOf(send.callbackData),
    received_ms: receivedMs,
    told: [],
    replies: 0,
    refusal: { code: refusal.code, http_status: refusal.httpStatus, kind: refusedKind(send) },
  };
}

export function refusedDetail(world: World, send: RefusedSend) {
  const { numberId, template, path, request, refusal } = send;
  const wabaId = world.numbers.get(numberId)?.wabaId ?? '';
  const found = world.templates.find(wabaId, template.name, template.language);
  return {
    row: { ...refusedRow(send), category: found?.fields.category ?? '' },
    path,
    request,
    refusal: {
      ...{ code: refusal.code, subcode: refusal.subcode, http_status: refusal.httpStatus },
      ...{ message: refusal.message, details: refusal.details },
    },
    template_id: found?.id ?? '',
    ...contextOf(world, { ...send, codes: [refusal.code] }),
    exchange: world.exchanges.get(send.exchangeId) === undefined ? null : send.exchangeId,
  };
}
