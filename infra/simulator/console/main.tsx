import { type ComponentType, render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { DispatchesPage } from './dispatches-page.tsx';
import { FaultsPage } from './faults-page.tsx';
import { Icon } from './icons.tsx';
import { InboxPage } from './inbox-page.tsx';
import { followInbox } from './inbox-store.ts';
import { connection, counters, now, watchSimulator } from './live.ts';
import { PeoplePage } from './people-page.tsx';
import { ReferencePage } from './reference-page.tsx';
import { RequestsPage } from './requests-page.tsx';
import { addressOfPage, followAddress, forgetChosen, place } from './router.ts';
import { useStore } from './store.ts';
import { TemplatesPage } from './templates-page.tsx';
import { counted, timeOf } from './texts.ts';
import { WebhooksPage } from './webhooks-page.tsx';

interface PageOf {
  readonly title: string;
  readonly Page: ComponentType;
}

/** What the service says, and what the simulated platform behind it does. */
const groups: Readonly<Record<string, Readonly<Record<string, PageOf>>>> = {
  Service: {
    dispatches: { title: 'Dispatches', Page: DispatchesPage },
    people: { title: 'People', Page: PeoplePage },
    webhooks: { title: 'Webhooks', Page: WebhooksPage },
    reference: { title: 'Reference', Page: ReferencePage },
  },
  'Simulated platform': {
    inbox: { title: 'Inbox', Page: InboxPage },
    templates: { title: 'Templates', Page: TemplatesPage },
    requests: { title: 'Requests', Page: RequestsPage },
    faults: { title: 'Faults and clock', Page: FaultsPage },
  },
};
const pages: Readonly<Record<string, PageOf>> = Object.assign({}, ...Object.values(groups));

function App() {
  const { page } = useStore(place);
  const name = page in pages ? page : 'inbox';
  const { title, Page } = pages[name] ?? { title: 'Inbox', Page: InboxPage };
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // A page that was asked for is where the keyboard and the screen reader go on.
  useEffect(() => {
    document.title = `${title} · Messaging console`;
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [name]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <header class="top">
        <p class="brand">
          <img src="/console/icon.svg" alt="" width="24" height="24" />
          <span class="brand-name">
            Messaging console
            <small>Your service, and a simulated platform behind it</small>
          </span>
        </p>
        <nav aria-label="Pages">
          {Object.entries(groups).map(([group, members]) => (
            <div key={group} class="group">
              <span class="group-name">{group}</span>
              {Object.entries(members).map(([each, { title: label }]) => (
                <a key={each} href={addressOfPage(each)} aria-current={each === name ? 'page' : undefined}>
                  <Icon name={each} />
                  <span>
                    {label.split(' ')[0]}
                    <span class="rest">{label.slice(label.split(' ')[0]?.length)}</span>
                  </span>
                </a>
              ))}
            </div>
          ))}
        </nav>
        <Pulse />
      </header>
      <main id="main" ref={main} tabIndex={-1} aria-label={title}>
        <h1 class="hidden">{title}</h1>
        <Page />
      </main>
    </>
  );
}

const words = { connecting: 'Connecting', open: 'Live', lost: 'Not connected' } as const;

/** Whether the page is live, and the simulator's time. */
function Pulse() {
  const state = useStore(connection);
  const nowMs = useStore(now);
  const told = useStore(counters);
  return (
    <p class={`pulse ${state}`}>
      <span role="status">{words[state]}</span>
      <span class="pulse-facts">
        {told === undefined ? '' : `${counted(told.messages, 'message')} · `}
        <time>{timeOf(nowMs)}</time>
      </span>
    </p>
  );
}

/** What was chosen by its place in a world that is gone would be something else, or nothing, in the next one. */
function followWorld(): void {
  let known = counters.get()?.world;
  counters.subscribe(() => {
    const world = counters.get()?.world;
    if (known !== undefined && world !== known) forgetChosen(['inbox', 'requests', 'webhooks']);
    known = world;
  });
}

followAddress();
watchSimulator();
followInbox();
followWorld();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
