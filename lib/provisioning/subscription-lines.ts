import type { Subscription } from './platform-subscriptions.ts';

/** Spells the report on subscriptions for a terminal. Existing ones need no line. */
export function subscriptionLines(subscriptions: readonly Subscription[]): string[] {
  const apps = subscriptions.some(({ state }) => state !== 'no app');
  if (subscriptions.length > 0 && !apps)
    return ['there are no platform apps: no webhook tells what becomes of messages'];
  return subscriptions.flatMap((subscription) => lineOf(subscription) ?? []);
}

function lineOf(subscription: Subscription): string | undefined {
  const waba = `WABA ${subscription.wabaId}`;
  switch (subscription.state) {
    case 'there':
      return undefined;
    case 'added':
      return `${waba} is now subscribed to platform app ${subscription.appId}`;
    case 'missing':
      return `warning: ${waba} is not subscribed to platform app ${subscription.appId}`;
    case 'unknown':
      return `warning: whether ${waba} is subscribed to platform app ${subscription.appId} is not known: ${subscription.why}`;
    case 'no app':
      return `warning: ${waba} has no platform app: no webhook tells what becomes of its messages`;
  }
}
