import { parsedJson } from './openapi.ts';
import { quoted } from './texts.ts';

/* Values may hold anything, so every text is escaped for its language. */

export interface SampleRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The sample sends a token, from its environment variable TOKEN. */
  readonly isSigned: boolean;
}

export type Language = 'curl' | 'JavaScript' | 'Python';

export const samples: Readonly<Record<Language, (request: SampleRequest) => string>> = {
  curl: curlSample,
  JavaScript: javaScriptSample,
  Python: pythonSample,
};

function curlSample({ url, method, headers, body, isSigned }: SampleRequest): string {
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    ...(isSigned ? ['-H "authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

function javaScriptSample({ url, method, headers, body, isSigned }: SampleRequest): string {
  const lines = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the sample's own template
    ...(isSigned ? ['authorization: `Bearer ${process.env.TOKEN}`'] : []),
    ...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines.map((line) => `    ${line},`), '  },']),
    ...(body === undefined ? [] : [`  body: ${indented(javaScriptBody(body))},`]),
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

function pythonSample({ url, method, headers, body, isSigned }: SampleRequest): string {
  const lines = [
    ...(isSigned ? [`"authorization": "Bearer " + os.environ["TOKEN"]`] : []),
    ...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  return [
    'import json, os, urllib.error, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url)},`,
    `    method=${JSON.stringify(method)},`,
    ...(lines.length === 0 ? [] : ['    headers={', ...lines.map((line) => `        ${line},`), '    },']),
    ...(body === undefined ? [] : [`    data=${pythonBody(body).replaceAll('\n', '\n    ')},`]),
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as answer:',
    '        print(answer.status, answer.read().decode())',
    'except urllib.error.HTTPError as refused:',
    '    print(refused.code, refused.read().decode())',
  ].join('\n');
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function javaScriptBody(body: string): string {
  const json = parsedJson(body);
  return json === undefined ? JSON.stringify(body) : `JSON.stringify(${JSON.stringify(json, null, 2)})`;
}

function pythonBody(body: string): string {
  const json = parsedJson(body);
  return json === undefined ? `${JSON.stringify(body)}.encode()` : `json.dumps(${pythonOf(json)}).encode()`;
}

/** Writes a value as a Python literal. JSON's string escapes are valid in Python. */
function pythonOf(value: unknown, indent = ''): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}    `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => pythonOf(each, deeper))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonOf(each, deeper)}`);
  const [open, close] = isList ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : `${open}\n${parts.map((part) => `${deeper}${part},\n`).join('')}${indent}${close}`;
}
