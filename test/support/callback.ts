/** Sets the simulator's webhook address from now on; null stops webhooks. */
export async function tellAt(platformUrl: string, callbackUrl: string | null): Promise<void> {
  const reply = await fetch(`${platformUrl}/_control/apps/500000000000001`, {
    method: 'POST',
    body: JSON.stringify({ callback_url: callbackUrl }),
  });
  if (!reply.ok) throw new Error(`the simulator's callback was refused: ${await reply.text()}`);
}
