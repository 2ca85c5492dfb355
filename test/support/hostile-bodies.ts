/** Makes distinct keys with this many bytes in total. */
function keys(bytes: number): string {
  const list: string[] = [];
  for (let index = 0, size = 0; size < bytes; index += 1) {
    const key = `"k${index.toString(36)}":0`;
    list.push(key);
    size += key.length + 1;
  }
  return list.slice(2).join(',');
}

function filled(begin: string, item: string, end: string, bytes: number): string {
  const room = bytes - begin.length - end.length;
  return `${begin}${item.repeat(Math.floor(room / item.length))}${end}`;
}

/**
 * These bodies of about this many bytes try to fill a function's memory, its stack or its list of faults, at the places
 * where a route has a list, an object or a text.
 */
export const hostileBodies: Readonly<Record<string, (bytes: number) => string>> = {
  'two million empty objects': (bytes) => filled('{"a":[', '{},', '{}]}', bytes),
  'empty objects and an escape': (bytes) => filled('{"\\u0061":[', '{},', '{}]}', bytes),
  'empty objects for recipients': (bytes) => filled('{"recipients":[', '{},', '{}]}', bytes),
  'empty lists for templates': (bytes) => filled('{"templates":[', '[],', '[]]}', bytes),
  'empty objects for components': (bytes) => filled('{"components":[', '{},', '{}]}', bytes),
  'empty objects for pairs': (bytes) => filled('{"channel_campaigns":[', '{},', '{}]}', bytes),
  'numbers without end': (bytes) => filled('{"a":[', '1,', '1]}', bytes),
  'objects within objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  'lists that nest and close': (bytes) => `{"a":${'['.repeat(bytes / 2 - 10)}${']'.repeat(bytes / 2 - 10)}}`,
  'lists that stay open': (bytes) => filled('', '[', '', bytes),
  'one long text': (bytes) => filled('{"name":"', 'x', '"}', bytes),
  'escapes without end': (bytes) => filled('{"url":"', '\\u0000', '"}', bytes),
  'unknown fields': (bytes) => `{${keys(bytes)}}`,
  'unknown fields of attends': (bytes) => `{"attends":{${keys(bytes - 20)}}}`,
  'unknown fields of a component': (bytes) => `{"components":[{${keys(bytes - 20)}}]}`,
  'unknown fields of every recipient': (bytes) => filled('{"recipients":[', '{"a":1,"b":1},', '{}]}', bytes),
  'a forbidden key': () => '{"__proto__":{"client_id":1002}}',
  'an overwritten constructor': () => '{"constructor":{"prototype":{"client_id":1002}}}',
  'bytes that are no text': (bytes) => filled('', '\u0000\ufffd', '', bytes / 2),
};
