import httpJsonBodyParser from '@middy/http-json-body-parser';
import { type BodyReader, bodyMaxBytes, bodyText, jsonObject, jsonValue, noJson, refuseDeepJson } from './body.ts';
import type { HttpEvent } from './endpoint.ts';
import { forbiddenKeyIn } from './forbidden-key.ts';
import { Refusal } from './refusal.ts';

/**
 * A JSON object of at most `maxBytes` (D6); with `optional`, no body means `{}`. Refuses with 413 and 400. Long bodies
 * skip middy's parser, whose reviver takes up to ten times the memory and time.
 */
export function jsonBody({ maxBytes, optional = false }: { maxBytes: number; optional?: boolean }): BodyReader {
  const parse = maxBytes <= bodyMaxBytes.bulk ? parseByMiddy : parsePlainly;
  return async ({ event }) => {
    const text = bodyText(event, maxBytes);
    Object.assign(event, { body: optional && text === '' ? '{}' : text, isBase64Encoded: false });
    await parse(event);
    jsonObject(event.body);
  };
}

/** Text without these holds no forbidden key, because letters have one escape only. */
const suspicious = /__proto__|constructor|\\u/;

async function parsePlainly(event: HttpEvent): Promise<void> {
  const text = String(event.body);
  event.body = jsonValue(text);
  const key = suspicious.test(text) ? forbiddenKeyIn(event.body) : undefined;
  if (key !== undefined) throw new Refusal('malformed_body', `forbidden key: ${key}`);
}

const middyParser = httpJsonBodyParser({ disableContentTypeCheck: true });

async function parseByMiddy(event: HttpEvent): Promise<void> {
  const text = String(event.body);
  refuseDeepJson(text);
  try {
    await middyParser.before?.({ event } as never);
  } catch (error) {
    const forbidden = forbiddenKeyOf(error);
    if (forbidden === undefined) throw noJson(text, { cause: error });
    throw new Refusal('malformed_body', forbidden, { cause: error });
  }
}

/** middy names a forbidden key in its error's cause. For other faults that cause repeats the whole text. */
function forbiddenKeyOf(error: unknown): string | undefined {
  const { message, cause } = error as { message?: unknown; cause?: { data?: unknown } };
  return message === 'Forbidden key in JSON body' ? `forbidden key: ${cause?.data}` : undefined;
}
