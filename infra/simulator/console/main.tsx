import { Component, type ComponentChildren, type ComponentType, render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { sentenceOf } from './api.ts';
import { Icon } from './icons.tsx';
import { followInbox } from './inbox-store.ts';
import { connection, counters, now, watchSimulator } from './live.ts';
import { Failed, useAnswer, Waiting } from './parts.tsx';
import { addressOfPage, followAddress, forgetChosen, place } from './router.ts';
import { useStore } from './store.ts';
import { counted, timeOf } from './texts.ts';

interface PageOf {
  readonly title: string;
  /** Tells pages of one title apart where the group is not seen beside it. */
  readonly of?: string;
  /** Pages load on demand: together they are larger than one page needs. */
  readonly read: () => Promise<ComponentType>;
}

const groups: Readonly<Record<string, Readonly<Record<string, PageOf>>>> = {
  Service: {
    dispatches: { title: 'Dispatches', read: async () => (await import('./dispatches-page.tsx')).DispatchesPage },
    'client-templates': {
      title: 'Templates',
      read: async () => (await import('./client-templates-page.tsx')).ClientTemplatesPage,
    },
    people: { title: 'People', read: async () => (await import('./people-page.tsx')).PeoplePage },
    webhooks: { title: 'Webhooks', read: async () => (await import('./webhooks-page.tsx')).WebhooksPage },
    reference: { title: 'Reference', read: async () => (await import('./reference-page.tsx')).ReferencePage },
  },
  'Simulated platform': {
    inbox: { title: 'Inbox', read: async () => (await import('./inbox-page.tsx')).InboxPage },
    templates: {
      title: 'Templates',
      of: 'of the platform',
      read: async () => (await import('./templates-page.tsx')).TemplatesPage,
    },
    requests: { title: 'Requests', read: async () => (await import('./requests-page.tsx')).RequestsPage },
    faults: { title: 'Faults and clock', read: async () => (await import('./faults-page.tsx')).FaultsPage },
  },
};
const pages: Readonly<Record<string, PageOf>> = Object.assign({}, ...Object.values(groups));

function App() {
  const { page } = useStore(place);
  const name = page === '' ? 'inbox' : page;
  const named = Object.hasOwn(pages, name) ? pages[name] : undefined;
  const title = [named?.title ?? 'No such page', ...(named?.of === undefined ? [] : [named.of])].join(' ');
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // A new page gets the focus, for keyboard and screen reader, in the same step as its text and its title.
  useLayoutEffect(() => {
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
              {Object.entries(members).map(([each, { title: label, of }]) => (
                <a key={each} href={addressOfPage(each)} aria-current={each === name ? 'page' : undefined}>
                  <Icon name={each} />
                  <span>
                    {label.split(' ')[0]}
                    <span class="rest">{label.slice(label.split(' ')[0]?.length)}</span>
                    {of === undefined ? null : <span class="hidden"> {of}</span>}
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
        <Boundary key={name}>{named === undefined ? <NoSuchPage name={name} /> : <PageNamed name={name} />}</Boundary>
      </main>
    </>
  );
}

/** An unexpected answer breaks only its page: the header and other pages stay usable. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly problem: string | undefined }> {
  override state: { readonly problem: string | undefined } = { problem: undefined };

  override componentDidCatch(error: unknown): void {
    this.setState({ problem: sentenceOf(error) });
  }

  override render() {
    const { problem } = this.state;
    if (problem === undefined) return this.props.children;
    const again = () => this.setState({ problem: undefined });
    return (
      <div class="page">
        <Failed title="The page could not be drawn" problem={problem} onAgain={again} />
      </div>
    );
  }
}

/** A mistyped or old address must not look like the inbox. */
function NoSuchPage({ name }: { readonly name: string }) {
  return (
    <div class="page opening">
      <Failed title="There is no such page" problem={`The console has no page “${name.slice(0, 60)}”.`}>
        <p>
          It has those above. A dispatch has the address <code>#/dispatches/</code> and its id.
        </p>
      </Failed>
    </div>
  );
}

function PageNamed({ name }: { readonly name: string }) {
  const { value: Page, problem, again } = useAnswer(pages[name]?.read, name);
  if (Page !== undefined) return <Page />;
  return (
    <div class="page opening">
      {problem === '' ? <Waiting /> : <Failed title="The page could not be read" problem={problem} onAgain={again} />}
    </div>
  );
}

const words = { connecting: 'Connecting', open: 'Live', lost: 'Not connected' } as const;

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

/** Ids from before a reset may mean something else in the new world. */
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
