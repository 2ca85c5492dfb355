const paths: Readonly<Record<string, string>> = {
  inbox:
    'M4 13l2.5-7.5A2 2 0 0 1 8.4 4h7.2a2 2 0 0 1 1.9 1.5L20 13v5a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zM4 13h4.5l1.5 2.5h4l1.5-2.5H20',
  templates: 'M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h5',
  'client-templates': 'M6 3h9l4 4v14H6zM14 3v5h5M9 15l2.500 2.500 4.500-5',
  requests: 'M4 8h13M13 4l4 4-4 4M20 16H7M11 12l-4 4 4 4',
  webhooks: 'M6 10a6 6 0 0 1 12 0c0 6 2.500 7 2.500 7h-17S6 16 6 10zM10 20a2 2 0 0 0 4 0',
  faults: 'M12 3l9 16H3zM12 10v4M12 17v.01',
  reference: 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM21 4h-6a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h6z',
  dispatches: 'M4 12l16-8-5 16-3.5-6.500zM11.500 13.500L20 4',
  people:
    'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.500a3.500 3.500 0 0 1 0 6.500M21 20a6 6 0 0 0-4-5.600',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20',
  back: 'M15 5l-7 7 7 7',
  link: 'M14 4h6v6M20 4l-9 9M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5',
  reply: 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6v1',
  phone_number: 'M6 3h3l2 5-2.5 1.5a11 11 0 0 0 6 6L16 13l5 2v3a3 3 0 0 1-3 3A15 15 0 0 1 3 6a3 3 0 0 1 3-3z',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9.5v.01',
  video: 'M4 6h11v12H4zM15 10l5-3v10l-5-3',
  gif: 'M4 6h11v12H4zM15 10l5-3v10l-5-3',
  document: 'M6 3h9l4 4v14H6zM14 3v5h5',
  location:
    'M12 21s7-6.2 7-11a7 7 0 0 0-14 0c0 4.800 7 11 7 11zM12 12.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z',
  product: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  list: 'M8 6h12M8 12h12M8 18h12M4 6v.01M4 12v.01M4 18v.01',
  play: 'M8 5l11 7-11 7z',
  gift: 'M4 9h16v4H4zM5.500 13v7h13v-7M12 9v11M12 9c-5 0-6-5-3-5 2 0 3 5 3 5zM12 9c5 0 6-5 3-5-2 0-3 5-3 5z',
  form: 'M6 3h12v18H6zM9 8h6M9 12h6M9 16h3',
  close: 'M6 6l12 12M18 6L6 18',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
};

/** The icon is decorative: the word beside it says the same to a screen reader. */
export function Icon({ name }: { readonly name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name] ?? paths['link']} />
    </svg>
  );
}
