/** The first page. */
export function Overview() {
  return (
    <>
      <h1>Overview</h1>
      <p class="soft">Nothing is shown here yet.</p>
    </>
  );
}
