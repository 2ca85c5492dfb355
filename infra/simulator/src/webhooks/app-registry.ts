/** An app receives webhooks, which its secret signs. */
export interface App {
  readonly id: string;
  readonly name: string;
  /** Without a secret nothing can be signed, so nothing is sent. */
  readonly secret?: string | undefined;
  readonly callback?: Callback | undefined;
  /** One POST has at most this many updates; undefined means the platform's limit. */
  readonly updatesPerPost?: number | undefined;
}

export interface Callback {
  readonly url: string;
  /** The app hears of all fields when this is undefined. */
  readonly fields?: readonly string[] | undefined;
}

export interface Subscription {
  readonly appId: string;
  /** Replaces the app's callback for this WABA. */
  readonly overrideCallbackUri?: string | undefined;
}

export class AppRegistry {
  readonly #apps = new Map<string, App>();
  readonly #byWaba = new Map<string, Map<string, Subscription>>();

  get(id: string): App | undefined {
    return this.#apps.get(id);
  }

  all(): readonly App[] {
    return [...this.#apps.values()];
  }

  put(app: App): App {
    this.#apps.set(app.id, app);
    return app;
  }

  /** Returns subscriptions in their order. */
  subscriptionsOf(wabaId: string): readonly Subscription[] {
    return [...(this.#byWaba.get(wabaId)?.values() ?? [])];
  }

  subscribe(wabaId: string, subscription: Subscription): void {
    const known = this.#byWaba.get(wabaId) ?? new Map<string, Subscription>();
    this.#byWaba.set(wabaId, known.set(subscription.appId, subscription));
  }

  unsubscribe(wabaId: string, appId: string): void {
    this.#byWaba.get(wabaId)?.delete(appId);
  }

  /** Returns each subscribed app with a secret, an address and interest in the field. */
  targetsOf(wabaId: string, field: string): readonly Target[] {
    return this.subscriptionsOf(wabaId).flatMap(({ appId, overrideCallbackUri }) => {
      const app = this.#apps.get(appId);
      const url = overrideCallbackUri ?? app?.callback?.url;
      const wanted = app?.callback?.fields?.includes(field) ?? true;
      return app?.secret === undefined || url === undefined || !wanted
        ? []
        : [{ appId, url, updatesPerPost: app.updatesPerPost }];
    });
  }
}

export interface Target {
  readonly appId: string;
  readonly url: string;
  readonly updatesPerPost?: number | undefined;
}
