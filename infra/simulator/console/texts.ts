const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

const minutes = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });

/** Returns a time without seconds, as on a phone. */
export function phoneTimeOf(ms: number): string {
  return minutes.format(ms);
}

export function timeOf(ms: number): string {
  return clock.format(ms);
}

export function momentOf(ms: number): string {
  return `${day.format(ms)}, ${clock.format(ms)}`;
}

/** A recipient has only digits, unlike the platform's spelling `+54 9 11 ...`. */
export function numberOf(to: string): string {
  return /^\d+$/.test(to) ? `+${to}` : to;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Spells `REJECTED_BY_X` as words. */
export function wordOf(constant: string): string {
  const words = constant.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function codeWordOf({
  code,
  http_status: status,
}: {
  readonly code: number | null;
  readonly http_status: number;
}) {
  return code === null ? `HTTP ${status}` : String(code);
}

interface LeftOut {
  readonly what?: string;
  readonly cut?: 'dropped' | 'not listed';
  readonly sinceMs?: number;
}

/** Tells the number of missing rows, and since when rows are listed. */
export function leftOutWords(count: number, { what = 'older', cut = 'dropped', sinceMs }: LeftOut): string {
  const since = sinceMs === undefined ? '' : `: listed since ${momentOf(sinceMs)}`;
  return `${count.toLocaleString('en')} ${what} ${cut}${since}`;
}

export function jsonOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

export interface CurlRequest {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Writes the request as curl. The token is unknown here, so it is a variable. */
export function curlOf({ origin, method, path, query, body }: CurlRequest): string {
  const search = new URLSearchParams(query).toString();
  const url = `${origin}${path}${search === '' ? '' : `?${search}`}`;
  const hasBody = body !== null && body !== undefined;
  return [
    `curl ${method === 'GET' ? '' : `-X ${quoted(method)} `}${quoted(url)}`,
    `-H "authorization: Bearer $PLATFORM_TOKEN"`,
    ...(hasBody ? ["-H 'content-type: application/json'", `--data-raw ${quoted(JSON.stringify(body))}`] : []),
  ].join(' \\\n  ');
}

/** Quotes a text so that it is one word for a shell, whatever it holds. */
export function quoted(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const minuteMs = 60_000;

/** Tells the remaining time of an offer in its two largest units, or that it ended. */
export function timeLeft(endsMs: number, nowMs: number): string {
  const left = Math.ceil((endsMs - nowMs) / minuteMs);
  if (endsMs <= nowMs) return 'Offer ended';
  const [days, hours] = [Math.floor(left / 1_440), Math.floor((left % 1_440) / 60)];
  if (days >= 2) return `Ends in ${days} days`;
  if (days === 1) return `Ends in 1 day${hours === 0 ? '' : ` ${hours} h`}`;
  return hours === 0 ? `Ends in ${left} min` : `Ends in ${hours} h ${left % 60} min`;
}
