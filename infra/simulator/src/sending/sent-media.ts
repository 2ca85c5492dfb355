import type { SentParameter, SentPart } from './message-body.ts';

/** Returns ids of media in the header of a send and of its cards. */
export function mediaIdsIn(parts: readonly SentPart[]): string[] {
  const cardParts = parts.flatMap(({ cards = [] }) => cards.flatMap(({ components }) => components));
  return [...parts, ...cardParts].flatMap(({ parameters }) => parameters.flatMap((each) => mediumOf(each)?.id ?? []));
}

function mediumOf(parameter: SentParameter): { readonly id?: string | undefined } | undefined {
  if (parameter.type === 'image') return parameter.image;
  if (parameter.type === 'video') return parameter.video;
  if (parameter.type === 'gif') return parameter.gif;
  if (parameter.type === 'document') return parameter.document;
  return undefined;
}
