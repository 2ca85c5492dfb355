/**
 * Sets the simulator's webhook address from now on; null stops webhooks. Statuses come almost at once instead of after
 * seconds; what a test says about the course of a message counts before that.
 */
export async function tellAt(platformUrl: string, callbackUrl: string | null): Promise<void> {
  await control('POST', `${platformUrl}/_control/apps/500000000000001`, { callback_url: callbackUrl });
  await control('DELETE', `${platformUrl}/_control/receipts`);
  if (callbackUrl === null) return;
  const course = { delivered_after_ms: 20, read_after_ms: 40, failed_after_ms: 20 };
  await control('POST', `${platformUrl}/_control/receipts`, { course });
}

async function control(method: string, url: string, body?: object): Promise<void> {
  const reply = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!reply.ok) throw new Error(`the simulator refused ${method} ${url}: ${await reply.text()}`);
}
