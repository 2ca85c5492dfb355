import { useMemo } from 'preact/hooks';
import { control } from './api.ts';
import { FilteredList } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { counters } from './live.ts';
import type { Post, Posts } from './model.ts';
import { BackButton, Empty, Facts, Json, useAnswer } from './parts.tsx';
import { addressOf, place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { counted, momentOf, timeOf } from './texts.ts';

/** The id counts from the last reset. */
type Placed = Post & { readonly id: string };

const listed = 200;
const none: readonly Placed[] = [];
const keyOf = (row: Placed) => row.id;
const atMsOf = (row: Placed) => Date.parse(row.at);

/** Tells a POST of the platform from an attempt of the service. */
export function isPost(id: string): boolean {
  return id.startsWith('p');
}

export function SentBy() {
  return (
    <Choice name="by" label="Sent by" all="Sent by the service" options={[['platform', 'Sent by the platform']]} />
  );
}

export function PlatformPosts() {
  const told = useStore(counters);
  const { id: named, filter } = useStore(place);
  const { q = '', outcome = '' } = filter;
  const id = isPost(named) ? named : '';
  const list = useAnswer(
    () => control<Posts>(`webhooks?limit=${listed}`).then(placed),
    `${told?.world} ${told?.webhooks}`,
  );
  const { value } = list;
  const rows = value?.rows ?? none;
  const found = useMemo(() => {
    const hasWords = searched(q);
    return rows.filter(
      (row) => (outcome === '' || outcome === outcomeOf(row)) && hasWords(`${aboutOf(row)} ${row.url} ${row.answer}`),
    );
  }, [rows, q, outcome]);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Posts">
        <Filters label="Search field, address or answer" hint="Field, address or answer">
          <SentBy />
          <Choice
            name="outcome"
            label="Outcome"
            all="Every outcome"
            options={[
              ['delivered', 'Delivered'],
              ['failed', 'Failed'],
            ]}
          />
        </Filters>
        <FilteredList
          page="webhooks"
          noun="post"
          label="Posts, newest first"
          rows={value?.rows}
          found={found}
          total={value?.total}
          cut="not listed"
          answer={list}
          atMsOf={atMsOf}
          keyOf={keyOf}
          chosen={id}
          row={(row) => <Row row={row} />}
          nothing="No posts were sent yet"
        >
          <p>
            The platform posts to the <a href={addressOf('faults')}>receivers of its apps</a> what becomes of messages
            and templates, and what people do.
          </p>
        </FilteredList>
      </section>
      <section class="pane-main" aria-label="Post">
        {id === '' || value === undefined ? (
          <Empty title="Choose a post">
            <p>It is shown with what the platform sent in it, and what the receiver answered.</p>
          </Empty>
        ) : (
          <PostPane key={id} post={rows.find((row) => row.id === id)} />
        )}
      </section>
    </div>
  );
}

function placed({ total, data }: Posts) {
  return { total, rows: data.map((post, at): Placed => ({ ...post, id: `p${total - at}` })) };
}

function outcomeOf({ answer }: Post): 'delivered' | 'failed' {
  return typeof answer === 'number' && answer >= 200 && answer <= 299 ? 'delivered' : 'failed';
}

/** Summarizes a post: `messages 3, message_template_status_update`. */
function aboutOf({ fields }: Post): string {
  return Object.entries(fields)
    .map(([field, count]) => (count === 1 ? field : `${field} ${count}`))
    .join(', ');
}

function Answer({ post }: { readonly post: Post }) {
  return <span class={`badge ${outcomeOf(post) === 'delivered' ? 'good' : 'warn'}`}>{post.answer}</span>;
}

function Row({ row }: { readonly row: Placed }) {
  return (
    <>
      <span class="row-line">
        <span class="row-path">
          <b>{aboutOf(row)}</b>
        </span>
        <Answer post={row} />
      </span>
      <span class="row-line small">
        <span class="row-template">
          <time dateTime={row.at}>{timeOf(Date.parse(row.at))}</time> · {row.url}
        </span>
        <span>{row.attempt === 1 ? '' : `attempt ${row.attempt}`}</span>
      </span>
    </>
  );
}

function PostPane({ post }: { readonly post: Placed | undefined }) {
  const back = <BackButton page="webhooks">All posts</BackButton>;
  if (post === undefined) {
    return (
      <Empty title="This post cannot be shown">
        <p>It is not kept any more.</p>
        {back}
      </Empty>
    );
  }
  const facts: readonly (readonly [string, string])[] = [
    ['Receiver', `${post.url} · app ${post.app_id}`],
    ['At', momentOf(Date.parse(post.at))],
    ['Attempt', String(post.attempt)],
    ['Size', `${counted(post.updates, 'update')}, ${counted(post.bytes, 'byte')}`],
  ];
  return (
    <div class="exchange">
      {back}
      <h2>
        {aboutOf(post)} <Answer post={post} />
      </h2>
      <Facts facts={facts} />
      <h3>What was sent</h3>
      {post.body === undefined ? (
        <p class="note">It is longer than what is kept.</p>
      ) : (
        <Json value={post.body} label="Body of the post" />
      )}
    </div>
  );
}
