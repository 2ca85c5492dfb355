import { counted } from './texts.ts';

type Facts = Readonly<Record<string, unknown>>;

export function durationOf(ms: number): string {
  if (ms % 60_000 === 0 && ms > 0) return counted(ms / 60_000, 'minute');
  return ms % 1_000 === 0 && ms > 0 ? counted(ms / 1_000, 'second') : counted(ms, 'millisecond');
}

export function requestsIn({ method, path, to }: Facts): string {
  const isSends = method === 'POST' && path === 'messages';
  const which = isSends ? 'Sends' : `${method === undefined ? 'Requests' : `${method} requests`}${on(path)}`;
  return to === undefined ? which : `${which} to ${to}`;
}

function on(path: unknown): string {
  return path === undefined ? '' : ` with ${path} in the path`;
}

export function actionIn(action: Facts): string {
  const { status, code, subcode, html, delay_ms: delayMs, message_status: word, drop } = action;
  const refusal = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(code === undefined ? [] : [`code ${code}`]),
    ...(subcode === undefined ? [] : [`subcode ${subcode}`]),
  ].join(', ');
  const parts = [
    ...(delayMs === undefined ? [] : [`wait ${durationOf(Number(delayMs))} for the answer`]),
    ...(drop === 'before' ? ['get no answer: the connection is closed before anything is done'] : []),
    ...(drop === 'after' ? ['are carried out, and the answer is lost'] : []),
    ...(html === undefined ? [] : ['get a web page instead of JSON']),
    ...(refusal === '' ? [] : [`are refused with ${refusal}`]),
    ...(word === undefined ? [] : [`are accepted as “${word}”`]),
  ];
  return parts.join(', and ');
}

export function messagesIn({ to, template }: Facts): string {
  const which = template === undefined ? 'Messages' : `Messages of ${template}`;
  return to === undefined ? which : `${which} to ${to}`;
}

export function courseIn(course: Facts): string {
  const after = (status: string) => {
    const ms = course[`${status}_after_ms`];
    if (ms === undefined) return [];
    return [ms === null ? `are never ${status}` : `are ${status} after ${durationOf(Number(ms))}`];
  };
  const { fail, failed_after_ms: failedMs, held_ms: heldMs, late_ms: lateMs, copies, order, lost } = course;
  const parts = [
    ...(fail === undefined || fail === null ? [] : [`fail with code ${fail}`]),
    ...(failedMs === undefined ? [] : [`fail after ${durationOf(Number(failedMs))}`]),
    ...['sent', 'delivered', 'read'].flatMap(after),
    ...(heldMs === undefined ? [] : [`are held for ${durationOf(Number(heldMs))}`]),
    ...(lateMs === undefined ? [] : [`have receipts ${durationOf(Number(lateMs))} late`]),
    ...(copies === undefined ? [] : [`have each receipt ${copies} times`]),
    ...(order === undefined ? [] : [`have receipts in ${order} order`]),
    ...(lost === true ? ['have no receipts'] : []),
  ];
  return parts.join(', and ');
}

export function leftIn(left: number | null, one: string): string {
  return left === null ? 'Until it is removed' : `For ${counted(left, one)} more`;
}
