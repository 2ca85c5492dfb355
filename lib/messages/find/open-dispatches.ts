import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { languageKey } from '../../templates/model/template.ts';
import { inReviewCode } from '../holds/hold.ts';
import type { FindPorts } from './find-dispatches.ts';

export type OpenPorts = Pick<FindPorts, 'dispatches' | 'standings'>;

/** An edit's answer is not worth more reads: one page of the newest dispatches. */
const mostDispatches = 50;

/**
 * Says how many of the client's dispatches of a template wait for its review (D46), or returns undefined for none.
 * Makes two round trips. Other clients of the WABA are not counted: a client learns nothing of their sends.
 */
export async function waitingForReview(
  { dispatches, standings }: OpenPorts,
  { clientId, name, language }: { readonly clientId: number; readonly name: string; readonly language: string },
): Promise<string | undefined> {
  try {
    const question = { clientId, template: name };
    const { accepted, next } = await dispatches.readAccepted(question, { after: undefined, limit: mostDispatches });
    const own = accepted.filter(({ templateLanguage }) => languageKey(templateLanguage) === languageKey(language));
    const statuses = own.length === 0 ? [] : await standings.of(own);
    const pending = statuses.map((status) => status?.counts.pending ?? 0).filter((some) => some > 0);
    return waitingText(pending, next !== undefined || statuses.length < own.length);
  } catch (error) {
    log('hold.not_counted', { clientId, error: errorName(error) });
    return undefined;
  }
}

function waitingText(pending: readonly number[], isPart: boolean): string | undefined {
  const { length: dispatches } = pending;
  if (dispatches === 0) return undefined;
  const messages = pending.reduce((sum, some) => sum + some, 0);
  const [noun, verb] = dispatches === 1 ? ['dispatch', 'waits'] : ['dispatches', 'wait'];
  const count = `${isPart ? 'at least ' : ''}${dispatches} ${noun} with ${messages} pending`;
  return `${count} ${verb} until the template is approved again (${inReviewCode})`;
}
