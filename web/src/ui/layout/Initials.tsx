/** A round or square with two letters. Painted, not text: screen readers read the name. */
export function Initials({
  name,
  size = 26,
  square,
}: {
  name: string
  size?: number
  square?: boolean
}) {
  const words = name
    .trim()
    .split(/[\s._@-]+/)
    .filter(Boolean)
  const letters = words.length > 1 ? `${words[0]![0]}${words[1]![0]}` : name.slice(0, 2)
  return (
    <span
      className="initials"
      data-letters={letters.toUpperCase()}
      data-square={square}
      style={{ width: size, height: size, fontSize: size * 0.42 }}
      aria-hidden="true"
    />
  )
}
