/** An app of the platform: who is told by webhook, and with which secret that is signed. */
export interface App {
  readonly id: string;
  readonly name: string;
  /** Undefined: nothing can be signed, so nothing is sent. */
  readonly secret?: string | undefined;
  readonly callback?: Callback | undefined;
  /** So many updates go into one POST at most; undefined: as many as the platform may send. */
  readonly updatesPerPost?: number | undefined;
}

export interface Callback {
  readonly url: string;
  /** The fields that are told; undefined: all of them. */
  readonly fields?: readonly string[] | undefined;
}

export interface Subscription {
  readonly appId: string;
  /** Told of this WABA instead of the app's callback. */
  readonly overrideCallbackUri?: string | undefined;
}

/** All apps, and which of them each WABA tells. */
export class AppShelf {
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

  /** In the order in which they subscribed. */
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

  /** Where news of a field of the WABA go: to each subscribed app that has a secret and an address and wants the field. */
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
