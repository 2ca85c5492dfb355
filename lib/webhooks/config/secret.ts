/** Standard Webhooks asks for 24 to 64 random bytes. */
export const secretBytes = 32;

/** Returns a signing secret for receivers: `whsec_` and the base64 of `secretBytes` random bytes (D34). */
export function webhookSecret(random: Uint8Array): string {
  if (random.byteLength !== secretBytes) throw new Error(`a webhook secret is made of ${secretBytes} bytes`);
  return `whsec_${Buffer.from(random).toString('base64')}`;
}
