const answerWithinMs = 10_000;

/**
 * Verifies a callback address with a challenge (platform reference, 10.1). Returns undefined on success, otherwise the
 * reason.
 */
export async function refusalOf(url: string, verifyToken: string, challenge: string): Promise<string | undefined> {
  const address = URL.parse(url);
  if (address === null) return 'it is no address';
  address.searchParams.set('hub.mode', 'subscribe');
  address.searchParams.set('hub.challenge', challenge);
  address.searchParams.set('hub.verify_token', verifyToken);
  try {
    const reply = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(answerWithinMs) });
    const text = await reply.text();
    if (reply.status !== 200) return `HTTP Status Code = ${reply.status}`;
    return text === challenge ? undefined : 'it does not answer the challenge';
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}
