import { TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../../../api/queries/access'
import { tagText } from '../../../ui/run/target'

interface Props {
  label: string
  description?: string
  value: string[]
  error?: string
  readOnly: boolean
  required?: boolean
  onChange: (value: string[]) => void
}

/** Members and member tags. Records name people by id; people name them by e-mail. */
export function PeopleField({ value, ...rest }: Props) {
  const { data: members = [] } = useQuery(membersQuery)
  const emails = new Map(members.map((member) => [member.user_id, member.user.email]))
  const names = members.flatMap((member) => [member.user.email, ...member.tags.map(tagText)])
  return (
    <TagsInput
      {...rest}
      data={[...new Set(names)]}
      value={value.map((person) => emails.get(person) ?? person)}
    />
  )
}
