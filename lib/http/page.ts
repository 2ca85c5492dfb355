// Every page imports these for its body, refusals and answer.
export { answer, csvAnswer, movedTo, plainText, shaped } from './answer.ts';
export { bodyMaxBytes, jsonValue, noBody, rawBody, textBody } from './body.ts';
export { alwaysNull, wholeNumber } from './documented.ts';
export type { Endpoint } from './endpoint.ts';
export { jsonBody } from './json-body.ts';
export { parse } from './parse.ts';
export { invalid, Refusal } from './refusal.ts';
export { parseHeaders } from './request-headers.ts';
