import httpJsonBodyParser from '@middy/http-json-body-parser';
import { type BodyReader, bodyMaxBytes, bodyText, jsonObject, jsonValue, noJson, refuseDeepJson } from './body.ts';
import type { HttpEvent } from './endpoint.ts';
import { forbiddenKeyIn } from './forbidden-key.ts';
import { Refusal } from './refusal.ts';

/**
 * A JSON object of at most `maxBytes` with any content type, base64 or not (D6); with `optional`, no body stands for
 * `{}`. Refuses with 413 and 400. middy's parser gives `JSON.parse` a reviver, which takes up to ten times the memory
 * and time: long bodies are parsed without, and what it refuses is looked for afterwards.
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

/** Text without any of these holds no forbidden key: letters are escaped in one way only. */
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

/** middy tells a key that it refuses in the cause of its error; text that is no JSON it repeats there as a whole. */
function forbiddenKeyOf(error: unknown): string | undefined {
  const { message, cause } = error as { message?: unknown; cause?: { data?: unknown } };
  return message === 'Forbidden key in JSON body' ? `forbidden key: ${cause?.data}` : undefined;
}
