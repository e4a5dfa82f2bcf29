/* Give some of the arrays one content after the other, without a pause, until told to stop. */
#include <string.h>

typedef struct {
    void *array;
    size_t n_bytes, n_contents;
    const void *const *contents;
} changed;

/* `range` is which of them: from the one to before the other; `stop` follows it. */
void change(const changed *arrays, const volatile size_t *range)
{
    for (size_t turn = 0; !range[2]; turn++)
        for (size_t i = range[0]; i < range[1] && !range[2]; i++)
            memcpy(arrays[i].array, arrays[i].contents[turn % arrays[i].n_contents], arrays[i].n_bytes);
}
