//! Arrays as the values of a column. Their first one decides the type; the first dimension may differ from record to record.

use forebay_columns::{Column, ColumnType, ElementType};

use crate::npy::NpyArray;

/// The arrays of a column, record by record.
#[derive(Debug)]
pub(super) struct LooseArrays {
    element: ElementType,
    /// The dimensions of the first array.
    shape: Vec<u32>,
    /// Of each record, items of the first dimension; nothing where there is no array. Of single values, one.
    items: Vec<Option<u32>>,
    bytes: Vec<u8>,
}

impl LooseArrays {
    /// The column that begins with so many records without an array, and then this one.
    ///
    /// # Errors
    /// No column can have it.
    pub(super) fn new(missing: usize, array: NpyArray) -> Result<Self, String> {
        let NpyArray { element, shape, bytes } = array;
        let mut arrays = Self { element, shape, items: vec![None; missing], bytes };
        arrays.ragged().map_err(|error| format!("{} cannot be a column: {error}", arrays.shown()))?;
        arrays.items.push(Some(arrays.shape.first().copied().unwrap_or(1)));
        Ok(arrays)
    }

    /// The array of the next record.
    ///
    /// # Errors
    /// It is not what the first one is. It counts as missing.
    pub(super) fn push(&mut self, array: &NpyArray) -> Result<(), String> {
        let inner = |shape: &[u32]| shape.get(1..).unwrap_or_default().to_vec();
        let is_alike = array.element == self.element
            && array.shape.len() == self.shape.len()
            && inner(&array.shape) == inner(&self.shape);
        if !is_alike {
            self.push_missing();
            let found = format!("{} {:?}", array.element, array.shape);
            return Err(format!("it is an array {found}, but the first one of the dataset is {}", self.shown()));
        }
        self.items.push(Some(array.shape.first().copied().unwrap_or(1)));
        self.bytes.extend_from_slice(&array.bytes);
        Ok(())
    }

    /// The next record has none.
    pub(super) fn push_missing(&mut self) {
        self.items.push(None);
    }

    /// The column. It is dense if all arrays have one shape. A record without one then takes as much as the others, so at
    /// most half of the records may lack theirs.
    pub(super) fn finish(self) -> Column {
        let missing = self.items.iter().filter(|items| items.is_none()).count();
        let first = self.items.iter().flatten().next().copied().unwrap_or(0);
        let is_even = self.items.iter().flatten().all(|items| *items == first);
        let is_dense = self.shape.is_empty() || is_even && missing <= self.items.len() / 2;
        match ColumnType::try_new(self.element, 0, &self.shape) {
            Ok(of) if is_dense => self.dense(of),
            _ => self.lists(),
        }
    }

    fn dense(self, of: ColumnType) -> Column {
        let (row, records) = (of.row_len(), self.items.len());
        let nulls: Vec<bool> = self.items.iter().map(Option::is_none).collect();
        if !nulls.contains(&true) {
            return whole(Column::try_from_parts(of, Vec::new(), self.bytes, Vec::new(), records));
        }
        let mut bytes = Vec::with_capacity(records * row);
        let (mut rest, zeros) = (self.bytes.chunks_exact(row), vec![0; row]);
        for is_null in &nulls {
            let array = if *is_null { None } else { rest.next() };
            bytes.extend_from_slice(array.unwrap_or(&zeros));
        }
        whole(Column::try_from_parts(of, Vec::new(), bytes, nulls, records))
    }

    fn lists(self) -> Column {
        let of = self.ragged().expect("it was checked when the first array came");
        let nulls: Vec<bool> = self.items.iter().map(Option::is_none).collect();
        let ends = self.items.iter().scan(0_i64, |end, items| {
            *end += i64::from(items.unwrap_or(0));
            Some(*end)
        });
        let ends = std::iter::once(0).chain(ends).collect();
        whole(Column::try_from_parts(of, vec![ends], self.bytes, nulls, self.items.len()))
    }

    /// The type of lists of arrays with one dimension less. A single value has none: it is dense.
    fn ragged(&self) -> Result<ColumnType, forebay_columns::TypeError> {
        match self.shape.split_first() {
            None => Ok(ColumnType::scalar(self.element)),
            Some((_, inner)) => ColumnType::try_new(self.element, 1, inner),
        }
    }

    fn shown(&self) -> String {
        format!("{} {:?}", self.element, self.shape)
    }
}

fn whole(column: Option<Column>) -> Column {
    column.expect("each array has the bytes of its shape")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &[u32], values: &[u8]) -> NpyArray {
        NpyArray { element: ElementType::U8, shape: shape.to_vec(), bytes: values.to_vec() }
    }

    fn column(missing: usize, arrays: &[Option<NpyArray>]) -> (Column, usize) {
        let (first, rest) = arrays.split_first().unwrap();
        let mut column = LooseArrays::new(missing, first.clone().unwrap()).unwrap();
        let mut refused = 0;
        for array in rest {
            match array {
                Some(array) => refused += usize::from(column.push(array).is_err()),
                None => column.push_missing(),
            }
        }
        (column.finish(), refused)
    }

    #[test]
    fn arrays_of_one_shape_are_dense_and_others_are_lists() {
        let (dense, _) = column(1, &[Some(array(&[2], b"ab")), Some(array(&[2], b"cd"))]);
        assert_eq!((dense.column_type().to_string(), dense.value(2).bytes()), ("u8 [2]".into(), &b"cd"[..]));
        assert_eq!((dense.is_null(0), dense.value(0).bytes(), dense.is_null(1)), (true, &[0, 0][..], false));
        let (lists, _) = column(0, &[Some(array(&[2], b"ab")), None, Some(array(&[0], b"")), Some(array(&[1], b"c"))]);
        assert_eq!(lists.column_type().to_string(), "u8 [*]");
        assert_eq!([0, 1, 2, 3].map(|record| lists.value(record).items()), [2, 0, 0, 1]);
        assert_eq!([0, 1, 2, 3].map(|record| lists.is_null(record)), [false, true, false, false]);
        let (boxes, _) = column(0, &[Some(array(&[1, 4], b"abcd")), Some(array(&[2, 4], b"efghijkl"))]);
        assert_eq!((boxes.column_type().to_string(), boxes.value(1).items()), ("u8 [*, 4]".into(), 2));
        let (single, _) = column(3, &[Some(array(&[], b"a"))]);
        assert_eq!(
            (single.column_type().to_string(), single.is_null(2), single.value(3).bytes()),
            ("u8".into(), true, &b"a"[..])
        );
        let (empty, _) = column(0, &[Some(array(&[0, 4], b""))]);
        assert_eq!(empty.column_type().to_string(), "u8 [*, 4]");
    }

    #[test]
    fn few_arrays_among_many_records_cost_no_room_for_those_that_lack_one() {
        let (many, _) = column(3, &[Some(array(&[2], b"ab")), None]);
        assert_eq!((many.column_type().to_string(), many.bytes()), ("u8 [*]".into(), &b"ab"[..]));
    }

    #[test]
    fn an_array_that_is_not_like_the_first_is_refused_alone() {
        let other = NpyArray { element: ElementType::F16, ..array(&[1, 2], b"abcd") };
        let others = [array(&[2], b"ab"), array(&[1, 3], b"abc"), array(&[], b"a"), other];
        let arrays: Vec<_> = std::iter::once(array(&[1, 2], b"ab")).chain(others).map(Some).collect();
        let (column, refused) = column(0, &arrays);
        assert_eq!((refused, column.len(), column.bytes().len()), (4, 5, 2));
        assert!(!column.is_null(0) && (1..5).all(|record| column.is_null(record)));
        for shape in [&[1, 0][..], &[1; 6]] {
            assert!(LooseArrays::new(0, array(shape, b"")).unwrap_err().contains("cannot be a column"), "{shape:?}");
        }
    }
}
