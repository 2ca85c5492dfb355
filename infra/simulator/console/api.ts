/** The message tells the user why a call failed. */
export class CallError extends Error {}

/** Makes a control call and returns its JSON. Throws `CallError` with the refusal's sentence. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  let reply: Response;
  try {
    reply = await fetch(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  } catch {
    throw new CallError('The simulator does not answer. Is it still running?');
  }
  const answer = (await reply.json().catch(() => ({}))) as T & { readonly message?: string };
  if (!reply.ok) throw new CallError(answer.message ?? `The simulator answered ${reply.status}.`);
  return answer;
}

export function control<T>(path: string, body?: unknown): Promise<T> {
  return call<T>(body === undefined ? 'GET' : 'POST', `/_control/${path}`, body);
}

export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
